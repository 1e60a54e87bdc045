// The list of runs, kept up to date while some are under way.

import { call } from "./api.js";
import { h } from "./dom.js";
import { duration, moment, number, t } from "./language.js";
import { liveTable } from "./polling.js";
import { projectChoice, projectNames } from "./project_choice.js";

/** @typedef {any} Run a run of the API (schema RunView) */

const kinds = ["query", "research", "tool", "ingest", "import", "reindex", "remove", "remove_project"];
const statuses = ["running", "completed", "failed", "canceled"];

/** Returns the word for a value of the API. @param {string} value */
export function named(value) {
  return t(`run.${/** @type {"query"} */ (value)}`);
}

/** Says why something waits, and until when. @param {any} wait */
export function waitOf(wait) {
  return `${t("doc.waits", { since: moment(wait.since), message: wait.message })} · ${t("run.next", { at: moment(wait.nextAt ?? wait.next_at) })}`;
}

/** Says how a run or an import is, and why. @param {any} item */
export function stateOf({ status, error, waiting }) {
  return [h("span", { class: `state ${status}` }, named(status)), " ", h("span", { class: "quiet" }, error?.message ?? (waiting ? waitOf(waiting) : ""))];
}

/** Returns how long a run took, or takes so far. @param {Run} run */
export function tookOf(run) {
  return duration(Math.max(0, (new Date(run.ended_at ?? Date.now()).getTime() - new Date(run.created_at).getTime()) / 1000));
}

/** Shows counters as the API names them. @param {Record<string, any> | null | undefined} counters */
export function countersOf(counters) {
  return Object.entries(counters ?? {}).filter(([, value]) => value && typeof value !== "object").map(([name, value]) => `${name} ${typeof value === "number" ? number(value) : value}`).join(", ");
}

/** @returns {import("./router.js").Page} */
export function openRuns() {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const choice = (/** @type {"run.kind" | "run.status"} */ label, /** @type {string[]} */ values) =>
    h("select", { "aria-label": t(label), onchange: () => table.restart() }, h("option", { value: "" }, t(`${label}.every`)), ...values.map((one) => h("option", { value: one }, named(one))));
  const kind = choice("run.kind", kinds);
  const status = choice("run.status", statuses);
  const project = projectChoice("", () => table.restart());
  const list = (/** @type {object} */ more) => call("list-runs", { query: { kind: kind.value, status: status.value, project_id: project.value, ...more } });
  const table = liveTable({
    name: t("runs"),
    columns: (/** @type {const} */ (["kind", "status", "project", "started", "took"])).map((one) => ({ title: t(`run.${one}`), number: one === "took" })),
    load: (cursor) => known.then(() => list({ limit: 100, cursor })),
    key: (run) => run.id,
    cells: (run) => [
      h("a", { href: "/runs/" + encodeURIComponent(run.id), "data-item": "" }, named(run.kind), h("span", { class: "quiet" }, " ", run.id.slice(0, 8))), stateOf(run),
      run.project_id ? names.get(run.project_id) ?? run.project_id : t("ask.every"), moment(run.created_at), tookOf(run),
    ],
    none: () => t(kind.value || status.value || project.value ? "run.none.found" : "run.none"),
  }, (run) => run.status === "running", async (items) => {
    const [newest, working] = await Promise.all([list({ limit: 50 }), list({ status: "running", limit: 500 })]);
    const waits = await waitsOf(working.data);
    const shown = new Map(items.map((run) => [run.id, run]));
    const now = new Map([...newest.data, ...working.data.filter((/** @type {Run} */ run) => shown.has(run.id))].map((run) => [run.id, run]));
    const ended = items.filter((run) => run.status === "running" && !now.has(run.id)).slice(0, 20);
    for (const { id } of ended) now.set(id, await call("workspace-get-run", { path: { run_id: id } }));
    // What counts the seconds of a run that is under way makes its row anew.
    return [...now.values()].map((run) => run.ended_at ? run : { ...run, waiting: waits.get(run.document_id ?? run.import_id), took: tookOf(run) });
  });
  return {
    title: t("runs"), stop: table.stop,
    element: h("div", { class: "padded documents" }, h("div", { class: "row" }, h("h1", {}, t("runs")), h("span", { class: "space" }), kind, status, project), table.element),
  };
}

/**
 * Returns why documents and imports of runs wait, by their ids, with one request for each of
 * the two.
 * @param {Run[]} runs
 */
async function waitsOf(runs) {
  const of = (/** @type {string} */ kind, /** @type {"list-documents" | "list-imports"} */ route, /** @type {object} */ query) =>
    runs.some((run) => run.kind === kind) ? call(route, { query: { ...query } }).catch(() => ({ data: [] })) : { data: [] }; // the causes are not for every key
  const [documents, imports] = await Promise.all([of("ingest", "list-documents", { status: "pending", limit: 500 }), of("import", "list-imports", { limit: 100 })]);
  return new Map([...documents.data, ...imports.data].map((one) => [one.id, one.waiting]));
}
