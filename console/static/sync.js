// A sync: how it is and what holds it, what failed, its runs, its settings, its connection.

import { actionButton, confirm } from "./action.js";
import { call } from "./api.js";
import { check, replaceSecret } from "./connections.js";
import { fill, h } from "./dom.js";
import { failureCells } from "./import.js";
import { countsOf as countsOfImport, rateOf } from "./imports_list.js";
import { say } from "./imports_frame.js";
import { duration, moment, number, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { polling } from "./polling.js";
import { projectName, projectNames } from "./project_choice.js";
import { navigate } from "./router.js";
import { stateOf as stateOfRun, tookOf, waitOf } from "./runs_list.js";
import { changeForm, previewOf } from "./sync_form.js";
import { countsOf, isOpen, paceOf, stateOf } from "./sync_state.js";

/** @typedef {import("./sync_state.js").Sync} Sync */

/** Returns the settings of a sync, each with its name. @param {Sync} one @param {Map<string, string>} names @returns {[string, import("./dom.js").Child | import("./dom.js").Child[]][]} */
function factsOf(one, names) {
  const list = (/** @type {string[]} */ values) => values.length > 0 && values.join(", ");
  const age = one.cursor_age === null ? say("sync.cursor.none") : say("sync.cursor.ago", { at: moment(new Date(Date.now() - one.cursor_age * 1000).toISOString()), age: duration(one.cursor_age) });
  const rights = one.permissions === "mirror" ? [h("p", {}, say("sync.mirror")), one.hidden > 0 && h("p", { class: "wrong" }, say("sync.hidden", { n: number(one.hidden) })),
    one.groups_unresolved > 0 && h("p", { class: "wrong" }, say("sync.groups", { n: number(one.groups_unresolved) }))] : say("sync.everybody");
  return [
    [t("ask.project"), h("a", { href: "/projects/" + encodeURIComponent(one.project_id) }, projectName(names, one.project_id))], [say("sync.every"), one.every],
    [say("sync.next"), moment(one.next_run)], [say("sync.cursor"), age], [say("sync.permissions"), rights],
    [say("sync.vanished"), say(one.remove_vanished ? "sync.vanished.remove" : "sync.vanished.keep")],
    [t("doc.tags"), list(one.tags)], ["include", list(one.include)], ["exclude", list(one.exclude)],
  ];
}

/** Returns the table of the runs of a sync. @param {string} id */
function runsTable(id) {
  const load = async (/** @type {object} */ more) => {
    const found = await call("list-imports", { query: { sync_id: id, ...more } });
    return { ...found, data: found.data.map((/** @type {any} */ run) => ({ ...run, events_url: "" })) }; // it differs with each answer
  };
  const table = pagedTable({
    name: say("sync.runs"), columns: [t("run.started"), t("doc.status"), say("sync.files"), t("run.took")].map((title) => ({ title })),
    load: (cursor) => load({ limit: 50, cursor }), key: (/** @type {any} */ run) => run.id,
    cells: (run) => [h("a", { href: "/imports/" + encodeURIComponent(run.id), "data-item": "" }, moment(run.created_at), h("span", { class: "quiet" }, " ", run.id.slice(0, 8))), stateOfRun(run),
      [countsOfImport(run), rateOf(run)].filter(Boolean).join(" · "), tookOf(run)],
    none: () => say("sync.runs.none"),
  });
  const look = async () => {
    const { data } = await load({ limit: 20 });
    for (const run of data.reverse()) table.put(run, true);
  };
  return { ...table, look, newest: () => table.items()[0] };
}

/** Returns the part about the connection of a sync, which some keys do not see. @param {() => Sync} sync as it is by now */
async function connectionPart(sync) {
  const connection = await call("get-connection", { path: { id: sync().connection_id } }).catch(() => null);
  if (!connection) return null;
  const outcome = h("div", { role: "status", class: "found" });
  const look = () => check(connection.id, outcome);
  const list = async () => {
    const { scope, include, exclude, permissions } = sync();
    fill(outcome);
    fill(outcome, ...previewOf(await call("check-connection", { path: { id: connection.id }, body: { scope, include, exclude, permissions } })));
  };
  return h("section", {}, h("h2", {}, say("conn")), h("p", { class: "quiet" }, say("conn.refused")),
    h("div", { class: "row" }, actionButton(say("conn.check"), look), actionButton(say("sync.list"), list), h("button", { type: "button", onclick: () => replaceSecret(connection, look) }, say("conn.secret"))), outcome);
}

/** @param {string} id */
export async function openSync(id) {
  const path = { id };
  /** @type {Sync} */
  let one = await call("get-sync", { path });
  const [names, connection] = await Promise.all([projectNames(), connectionPart(() => one)]);
  const state = h("div");
  const facts = h("dl", { class: "facts" });
  const runs = runsTable(id);
  const failures = pagedTable({
    name: say("imp.failures"), columns: [{ title: say("sync.files") }, { title: t("run.error") }],
    load: async (cursor) => one.last_run ? call("list-import-failures", { path: { id: one.last_run.id }, query: { limit: 100, cursor } }) : { data: [], next_cursor: null },
    key: (/** @type {any} */ failure) => failure.key, cells: failureCells, none: () => say(one.status === "failed" ? "sync.failures.unread" : "sync.failures.none"),
  });
  const act = (/** @type {"run-sync" | "pause-sync" | "resume-sync"} */ what) => async () => {
    await call(what, { path });
    await live.now();
  };
  const run = actionButton(say("sync.run"), act("run-sync"), { class: "first" });
  const pause = actionButton(say("sync.pause"), act("pause-sync"));
  const resume = actionButton(say("sync.resume"), act("resume-sync"), { class: "first" });
  const remove = h("button", { type: "button", onclick: () => confirm({ title: say("sync.remove"), hint: say("sync.remove.hint"), label: say("sync.remove"), word: one.scope.folder || one.scope.drive || one.type }, async () => {
    await call("delete-sync", { path });
    navigate("/syncs");
  }) }, say("sync.remove"));
  const draw = () => {
    const newest = runs.newest();
    const held = isOpen(one) && newest?.waiting && h("p", { class: "wrong" }, waitOf(newest.waiting));
    fill(state, h("p", {}, ...stateOf(one)), held, isOpen(one) && h("progress", { max: one.discovered || 1, value: one.published + one.skipped + one.failed, "aria-label": say("sync.files") }),
      h("p", {}, [countsOf(one), isOpen(one) && newest ? rateOf(newest) : ""].filter(Boolean).join(" · ")));
    fill(facts, ...factsOf(one, names).filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    run.hidden = isOpen(one) || one.status === "paused";
    pause.hidden = one.status === "paused";
    resume.hidden = one.status !== "paused";
  };
  const look = async () => {
    const before = one;
    [one] = await Promise.all([call("get-sync", { path }), runs.look()]);
    if (one.failed !== before.failed || one.last_run?.id !== before.last_run?.id) failures.restart();
    draw();
  };
  const live = polling(look, () => true, () => paceOf(isOpen(one)));
  draw();
  void live.now();
  return {
    title: one.place,
    element: h("div", { class: "padded document" }, h("p", {}, h("a", { href: "/syncs" }, "‹ ", say("syncs"))),
      h("div", { class: "row" }, h("h1", {}, one.place), h("span", { class: "space" }), run, resume, pause, remove), state, facts,
      changeForm(one, (changed) => {
        one = changed;
        draw();
      }), h("h2", {}, say("imp.failures")), failures.element, h("h2", {}, say("sync.runs")), runs.element, connection),
    stop: () => {
      failures.stop();
      runs.stop();
      live.stop();
    },
  };
}
