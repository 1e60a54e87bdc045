// The checks of a server, as rows of a table.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { h } from "./dom.js";
import { bytes, moment, number } from "./language.js";
import { t } from "./operations_words.js";

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {"published" | "error" | "pending"} Mark the classes of a state: good, bad, and of no matter */

const clockTolerance = 5; // seconds
const leastFree = 1 << 30; // bytes

/**
 * Returns a small table; each row is a list of cells, of which a number is one of the last.
 * @param {string} name for screen readers
 * @param {string[]} columns
 * @param {(Child | Child[])[][]} rows
 * @param {number} [numbers] how many of the columns, from the end, are numbers
 */
export function smallTable(name, columns, rows, numbers = 0) {
  return tableWith(name, columns, rows, (at) => at >= columns.length - numbers);
}

/**
 * Is smallTable with numbers in any columns.
 * @param {string} name
 * @param {string[]} columns
 * @param {(Child | Child[])[][]} rows
 * @param {(at: number) => boolean} isNumber whether the cells of a column are numbers
 */
export function tableWith(name, columns, rows, isNumber) {
  const kind = (/** @type {number} */ at) => isNumber(at) && "number";
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, h("table", { class: "small", "aria-label": name },
    h("thead", {}, h("tr", {}, ...columns.map((one, at) => h("th", { scope: "col", class: kind(at) }, one)))),
    h("tbody", {}, ...rows.map((cells) => h("tr", {}, ...cells.map((cell, at) => h("td", { class: kind(at), "data-label": columns[at] || false }, cell)))))));
}

/** @param {Mark} mark @param {string} words */
function state(mark, words) {
  return h("span", { class: `state ${mark}` }, words);
}

/**
 * Returns the rows of the checks: what was checked, how it is, and what to do.
 * @param {import("./health.js").Health} health
 * @param {(act: () => Promise<any>) => () => Promise<any>} then does something and reads the page again
 * @returns {(Child | Child[])[][]}
 */
export function checkRows({ state: ready, version, apart }, then) {
  const rows = ready.dependencies.map((one) => [one.name, state(one.status === "up" ? "published" : "error", t(`ops.${one.status}`)), one.next ?? ""]);
  if (ready.indexIncomplete) {
    rows.push([t("ops.index"), state("error", t("ops.incomplete")), /** @type {any} */ ([h("p", {}, t("ops.lost")), actionButton(t("ops.rebuild"), then(rebuild))])]);
  } else if (ready.dependencies.every((one) => one.status === "up")) {
    rows.push([t("ops.index"), state("published", t("ops.complete")), ""]);
  }
  const problem = ready.diskProblem;
  if (problem) {
    const refused = t(problem.refusesQuestions ? "ops.refuses.both" : "ops.refuses.uploads", { free: bytes(problem.freeBytes), needed: bytes(problem.neededBytes) });
    rows.push([t("ops.uploads"), state("error", t(`ops.${problem.code}`)), /** @type {any} */ ([h("p", {}, refused), problem.message])]);
  }
  if (ready.disk) {
    const used = Object.entries(ready.disk.usedBytes).map(([name, count]) => `${name} ${bytes(count)}`).sort().join(", ");
    const little = ready.disk.freeBytes < leastFree;
    rows.push([t("ops.disk"), state(little ? "error" : "published", t("ops.free", { size: bytes(ready.disk.freeBytes) })), little ? t("ops.free.some") : used]);
  }
  if (version) rows.push([t("ops.version"), state("published", version), ""]);
  const skewed = apart > clockTolerance;
  rows.push([t("ops.clock"), state(skewed ? "error" : "published", t(skewed ? "ops.clock.apart" : "ops.clock.same", { seconds: number(Math.round(apart)) })), skewed ? t("ops.clock.set") : ""]);
  for (const one of ready.uncomparedEmbeddings ?? []) rows.push([one.model, state("error", t("ops.uncompared")), one.message]);
  return rows;
}

/**
 * Returns the table of the server's machine; null for keys that are not of the instance.
 * @returns {Promise<HTMLElement | null>}
 */
export async function machineTable() {
  const found = await call("check-machine").catch((failure) => {
    if (failure.status === 403) return null;
    throw failure;
  });
  const marks = /** @type {Record<string, Mark>} */ ({ ok: "published", note: "pending", problem: "error" });
  return found && smallTable(t("ops.machine"), [t("ops.check"), t("ops.state"), t("ops.found")], found.data.map((/** @type {any} */ one) =>
    [one.check, state(marks[one.state], t(`ops.machine.${/** @type {"ok"} */ (one.state)}`)), [one.detail, one.next && h("p", { class: "quiet" }, t("ops.next", { next: one.next }))]]));
}

/**
 * Returns the rows of model endpoints with their last call.
 * @param {import("./health.js").Readiness} ready
 * @returns {(Child | Child[])[][]}
 */
export function modelRows(ready) {
  return (ready.models ?? []).map((one) => {
    const good = one.outcome === "ok";
    const when = t("ops.when", { at: moment(one.at), n: number(one.seconds, { maximumFractionDigits: 2 }) });
    return [[one.kind, " ", h("span", { class: "quiet" }, one.provider)], [state(good ? "published" : "error", t(good ? "ops.answered" : "ops.not.answered")), " ", h("span", { class: "quiet" }, when)]];
  });
}

/** Fills the index of each project again. */
async function rebuild() {
  for (let cursor = ""; ; ) {
    const found = await call("list-projects", { query: { limit: 100, cursor } });
    for (const one of found.data) await call("reindex-project", { path: { id: one.id }, body: { rebuild: true } });
    cursor = found.next_cursor ?? "";
    if (!cursor) return;
  }
}
