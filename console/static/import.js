// An import: its counters while it runs, what holds it, and what failed.

import { actionButton, confirm } from "./action.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { say } from "./imports_frame.js";
import { countsOf, isOpen, placeOf, rateOf } from "./imports_list.js";
import { bytes, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";
import { projectNames } from "./project_choice.js";
import { factList, originOf, stateOf } from "./runs_list.js";
import { causeOf } from "./words/causes.js";

/** @typedef {import("./imports_list.js").Import} Import */

/** Returns what an import has done so far. @param {Import} one */
export function progressOf(one) {
  const done = one.published + one.skipped + one.failed;
  return [h("p", {}, ...stateOf(one), one.dry_run && ` · ${say("imp.dry")}`),
    isOpen(one) && !one.dry_run && h("progress", { max: one.discovered || 1, value: done, "aria-label": say("imp.objects") }),
    h("p", {}, [countsOf(one), one.bytes ? bytes(one.bytes) : "", rateOf(one)].filter(Boolean).join(" · "))];
}

/** Returns what a failed object shows: its path, and the cause. @param {any} failure */
export function failureCells({ key, name, document_id: id, error }) {
  const path = name || key;
  return [id ? h("a", { href: "/documents/" + encodeURIComponent(id), "data-item": "" }, path) : path, `${error.code}: ${causeOf(error)}`];
}

/** @param {string} id */
export async function openImport(id) {
  const path = { id };
  /** @type {Import} */
  let one = await call("get-import", { path });
  const names = await projectNames();
  const state = h("div");
  const facts = h("dl", { class: "facts" });
  const failures = pagedTable({
    name: say("imp.failures"), columns: [{ title: say("imp.objects") }, { title: t("run.error") }],
    load: (cursor) => call("list-import-failures", { path, query: { limit: 100, cursor } }),
    key: (/** @type {any} */ failure) => failure.key,
    cells: failureCells,
    none: () => say("imp.none_failed"),
  });
  const act = (/** @type {"pause-import" | "resume-import" | "cancel-import" | "retry-import"} */ what) => () => call(what, { path }).then(look);
  const pause = actionButton(t("doc.pause"), act("pause-import"));
  const resume = actionButton(t("run.resume"), act("resume-import"), { class: "first" });
  const retry = actionButton(say("imp.retry"), act("retry-import"));
  const cancel = h("button", { type: "button", onclick: () => confirm({ title: say("imp.cancel.title"), hint: say("imp.cancel.hint"), label: say("imp.cancel") }, act("cancel-import")) }, say("imp.cancel"));
  const draw = () => {
    fill(state, ...progressOf(one));
    fill(facts, ...factList([...originOf(one, names), ["run.kind", h("a", { href: "/runs/" + encodeURIComponent(one.run_id) }, one.run_id)]]));
    pause.hidden = one.status !== "running";
    resume.hidden = one.status !== "paused";
    cancel.hidden = !isOpen(one);
    retry.hidden = isOpen(one) ? !one.waiting : !one.failed;
    live.plan();
  };
  const look = async () => {
    const before = one.failed;
    one = await call("get-import", { path });
    if (one.failed !== before) failures.restart();
    draw();
  };
  const live = polling(look, () => isOpen(one));
  draw();
  return {
    title: placeOf(one),
    element: h("div", { class: "padded document" }, h("p", {}, one.sync_id ? h("a", { href: "/syncs/" + encodeURIComponent(one.sync_id) }, "‹ ", say("sync.of")) : h("a", { href: "/imports" }, "‹ ", t("imports"))),
      h("div", { class: "row" }, h("h1", {}, placeOf(one)), h("span", { class: "space" }), resume, retry, pause, cancel), state, facts,
      h("h2", {}, say("imp.failures")), failures.element),
    stop: () => {
      failures.stop();
      live.stop();
    },
  };
}
