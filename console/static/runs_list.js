// The list of runs, kept up to date while some are under way.

import { call } from "./api.js";
import { h } from "./dom.js";
import { duration, moment, money, number, t } from "./language.js";
import { liveTable, withOlder } from "./polling.js";
import { projectChoice, projectName, projectNames } from "./project_choice.js";
import { keepFilters } from "./router.js";
import { causeOf } from "./words/causes.js";

/** @typedef {any} Run a run of the API (schema RunView) */

/** Returns the word for a value of the API. @param {string} value */
export function named(value) {
  return t(`run.${/** @type {"query"} */ (value)}`);
}

/** Returns the word for a stage of an ingest. @param {string} stage */
export function stageName(stage) {
  return stage && t(`stage.${/** @type {"embed"} */ (stage)}`);
}

/** Says why something waits, and until when. @param {any} wait */
export function waitOf(wait) {
  const { since, attempt, of } = wait;
  return [t("doc.waits", { since: moment(since), message: causeOf(wait) }), attempt > 0 && t("run.attempt", { n: attempt, of }), t("run.next", { at: moment(wait.nextAt ?? wait.next_at) })].filter(Boolean).join(" · ");
}

/** Says how a run or an import is, and why. @param {any} item */
export function stateOf({ status, error, waiting }) {
  return [h("span", { class: `state ${status}` }, named(status)), " ", h("span", { class: "quiet" }, error ? causeOf(error) : waiting ? waitOf(waiting) : "")];
}

/** Returns how long a run took, or takes so far. @param {Run} run */
export function tookOf(run) {
  return duration(Math.max(0, (new Date(run.ended_at ?? Date.now()).getTime() - new Date(run.created_at).getTime()) / 1000));
}

/** Shows counters as the API names them, and what they cost. @param {Record<string, any> | null | undefined} counters */
export function countersOf(counters) {
  const { cost, currency, ...rest } = counters ?? {};
  const shown = Object.entries(rest).filter(([, value]) => value && typeof value !== "object").map(([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "number" ? number(value) : value}`);
  return [...shown, ...(currency ? [money(cost ?? 0, currency)] : [])].join(", ");
}

/**
 * Returns the link to a workflow in Temporal's UI; null if there is no UI, or one for its own
 * machine only and the browser runs on another.
 * @param {string} address @param {string} text
 */
export function workflowLink(address, text) {
  const own = (/** @type {string} */ host) => /(^|\.)localhost$|^127\.|^\[::1\]$/.test(host);
  if (!address || own(new URL(address).hostname) && !own(location.hostname)) return null;
  return h("a", { href: address, target: "_blank", rel: "noopener" }, text);
}

/** @typedef {[import("./language.js").Word, any]} Fact */

/** Returns what runs and imports have in common. @param {any} item @param {Map<string, string>} names @returns {Fact[]} */
export function originOf(item, names) {
  return [
    ["ask.project", projectName(names, item.project_id)], ["run.person", item.person], ["run.started", moment(item.created_at)], ["run.took", tookOf(item)],
    ["run.workflow", workflowLink(item.operator_url, item.workflow_id ?? item.id) || item.workflow_id],
  ];
}

/** Returns the elements of facts that are known. @param {Fact[]} facts */
export function factList(facts) {
  return facts.filter(([, value]) => value).flatMap(([word, value]) => [h("dt", {}, t(word)), h("dd", {}, value)]);
}

const isRunning = (/** @type {Run} */ run) => run.status === "running";

/** @param {URLSearchParams} asked the filters of the address */
export function openRuns(asked) {
  let names = new Map();
  const known = projectNames().then((found) => (names = found));
  const filters = () => ({ kind: kind.value, status: status.value, project: project.value, person: person.value.trim() });
  const change = () => {
    keepFilters("/runs", filters());
    table.restart();
  };
  const choice = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ every, /** @type {string[]} */ values) =>
    h("select", { name, "aria-label": label, onchange: change }, h("option", { value: "" }, every), ...values.map((one) => h("option", { value: one, selected: one === asked.get(name) }, named(one))));
  const kind = choice("kind", t("run.kind"), t("run.kind.every"), ["query", "research", "tool", "ingest", "import", "reindex", "evaluate", "remove", "remove_project", "retention", "generate", "export", "erase"]);
  const status = choice("status", t("doc.status"), t("doc.every"), ["running", "completed", "failed", "canceled"]);
  const project = projectChoice(asked.get("project") ?? "", change);
  const person = h("input", { type: "search", name: "person", value: asked.get("person") ?? "", maxlength: 200, "aria-label": t("run.person"), placeholder: t("run.person"), onchange: change });
  const list = (/** @type {object} */ more) => {
    const { project: project_id, ...others } = filters();
    return call("list-runs", { query: { ...others, project_id, ...more } });
  };
  const table = liveTable({
    name: t("runs"),
    columns: [{ title: t("run.kind") }, { title: t("doc.status") }, { title: t("ask.project") }, { title: t("run.person") }, { title: t("run.started") }, { title: t("run.took"), number: true }],
    load: (cursor) => known.then(() => list({ limit: 100, cursor })),
    key: (run) => run.id,
    cells: (run) => [
      h("a", { href: "/runs/" + encodeURIComponent(run.id), "data-item": "" }, named(run.kind), h("span", { class: "quiet" }, " ", run.id.slice(0, 8))), stateOf(run),
      projectName(names, run.project_id), run.person, moment(run.created_at), tookOf(run),
    ],
    none: () => t(Object.values(filters()).some(Boolean) ? "run.none.found" : "run.none"),
  }, isRunning, async (newest, items) => {
    const working = await list({ status: "running", limit: 500 });
    const waits = await waitsOf(working.data);
    const known = new Set(items.map((run) => run.id));
    const now = new Map([...newest, ...working.data.filter((/** @type {Run} */ run) => known.has(run.id))].map((run) => [run.id, run]));
    const rows = await withOlder([...now.values()], items, isRunning, (id) => call("workspace-get-run", { path: { run_id: id } }));
    return rows.map((run) => run.ended_at ? run : { ...run, waiting: waits.get(run.document_id ?? run.import_id), took: tookOf(run) });
  });
  return {
    title: t("runs"), stop: table.stop,
    element: h("div", { class: "padded documents" }, h("div", { class: "row" }, h("h1", {}, t("runs")), h("span", { class: "space" }), kind, status, project, person), table.element),
  };
}

/** Returns why documents and imports of runs wait, by their ids: two requests for all. @param {Run[]} runs */
async function waitsOf(runs) {
  const of = (/** @type {string} */ kind, /** @type {"list-documents" | "list-imports"} */ route, /** @type {object} */ query) =>
    runs.some((run) => run.kind === kind) ? call(route, { query: { ...query } }).catch(() => ({ data: [] })) : { data: [] }; // the causes are not for every key
  const [documents, imports] = await Promise.all([of("ingest", "list-documents", { status: "pending", limit: 500 }), of("import", "list-imports", { limit: 100 })]);
  return new Map([...documents.data, ...imports.data].map((one) => [one.id, one.waiting]));
}
