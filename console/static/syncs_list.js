// The list of syncs, kept up to date, with the form of a new one and the connections.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { connectionsPart } from "./connections.js";
import { h } from "./dom.js";
import { partsOf, say } from "./imports_frame.js";
import { moment, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";
import { projectChoice, projectName, projectNames } from "./project_choice.js";
import { syncForm } from "./sync_form.js";
import { countsOf, inList, isOpen, linkTo, listSyncs, paceOf, stateOf } from "./sync_state.js";

/** @typedef {import("./sync_state.js").Sync} Sync */

/** What the buttons of a row do. */
const actions = /** @type {const} */ ({ run: "run-sync", pause: "pause-sync", resume: "resume-sync" });

export function openSyncs() {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const project = projectChoice("", () => table.restart());
  /** @type {import("./paged_table.js").Table<Sync>} */
  const table = pagedTable({
    name: say("syncs"),
    columns: [say("sync.place"), t("doc.status"), t("ask.project"), say("sync.files"), say("sync.last"), say("sync.next"), t("hook.change")].map((title) => ({ title })),
    load: (cursor) => known.then(() => listSyncs({ project_id: project.value, limit: 100, cursor })),
    key: (one) => one.id,
    cells: (one) => [
      [linkTo(one), h("span", { class: "quiet" }, " ", one.type)], stateOf(one), projectName(names, one.project_id), countsOf(one),
      one.last_run ? moment(one.last_run.started_at) : say("sync.never"), moment(one.next_run), h("div", { class: "row" }, ...one.status === "paused" ? [act("resume", one)] : [!isOpen(one) && act("run", one), act("pause", one)]),
    ],
    none: () => say("sync.none"),
    loaded: () => live.plan(),
  });
  const act = (/** @type {keyof typeof actions} */ what, /** @type {Sync} */ one) =>
    actionButton(say(`sync.${what}`), async () => {
      table.put(inList(await call(actions[what], { path: { id: one.id } })));
      await live.now();
    }, { "aria-label": `${say(`sync.${what}`)}: ${one.place}` });
  const live = polling(async () => {
    for (const one of (await listSyncs({ project_id: project.value, limit: 100 })).data.reverse()) table.put(one, true);
  }, () => true, () => paceOf(table.items().some(isOpen)));
  const form = syncForm();
  /** @type {import("./connections.js").Connection[]} */
  let connected = [];
  const connections = connectionsPart((one) => {
    form.offer(connected, one.id);
    form.element.open = true;
    form.element.querySelector("input")?.focus();
  }, (found) => form.offer(connected = found));
  return {
    title: say("syncs"),
    element: h("div", { class: "padded documents syncs" }, h("div", { class: "row" }, h("h1", {}, say("syncs")), h("span", { class: "space" }), project), partsOf("syncs"),
      h("p", { class: "quiet" }, say("sync.hint")), form.element, table.element, connections.element),
    stop: () => {
      table.stop();
      live.stop();
      connections.stop();
    },
  };
}
