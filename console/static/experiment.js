// The configurations of an experiment: what is better than the saved settings, at which cost.

import { actionButton, attempt, confirm } from "./action.js";
import { call } from "./api.js";
import { smallTable } from "./checks.js";
import { announce, h } from "./dom.js";
import { say, short, signed } from "./evaluation_parts.js";
import { money, number } from "./language.js";

/** @typedef {any} Cell a configuration (schema CellView) */

const shown = /** @type {const} */ (["score", "context", "faithfulness", "recall10", "latency", "tokens"]);

/** Shows the value of a setting. @param {any} value @param {number} [most] characters */
function valueOf(value, most = 60) {
  const text = typeof value === "string" ? value : value === null || value === undefined ? "–" : JSON.stringify(value);
  return text.length > most ? text.slice(0, most) + "…" : text;
}

/** Returns the settings of a configuration with their values. @param {Cell} cell */
export function settingsOf(cell) {
  return Object.keys(cell.values).sort().map((path) => `${path.replace(/^ai\.(retrieval\.)?/, "")}: ${valueOf(cell.values[path])}`);
}

/** Shows a mean, and how it differs from the one of the saved settings. @param {Cell} cell @param {string} measure */
function meanOf(cell, measure) {
  const mean = cell.scores[measure];
  if (!mean) return "";
  const difference = cell.differences?.find((/** @type {any} */ one) => one.measure === measure);
  const sure = difference && difference.verdict !== "undecided";
  const word = sure && ` ${say(`verdict.${/** @type {"better"} */ (difference.verdict)}`)}`;
  return [short(mean.mean), difference && h("div", { class: sure ? `difference ${difference.verdict}` : "difference quiet" }, signed(difference.mean), word, h("div", {}, `${signed(difference.low)} … ${signed(difference.high)}`))];
}

/** Shows what a configuration cost. @param {Cell} cell */
function costOf({ usage }) {
  return usage.currency ? money(usage.cost ?? 0, usage.currency) : "";
}

/** @param {any} project @param {string} path */
const savedValue = (project, path) => path.split(".").reduce((value, name) => value?.[name], project);

/**
 * Asks whether a configuration becomes the saved one of its project.
 * @param {any} one the experiment @param {Cell} cell @param {() => void} applied
 */
async function use(one, cell, applied) {
  const path = { id: one.project_id };
  const project = await call("get-project", { path });
  const paths = Object.keys(cell.values).sort();
  const changes = paths.filter((at) => JSON.stringify(savedValue(project, at)) !== JSON.stringify(cell.values[at])).map((at) => `${at}: ${valueOf(savedValue(project, at))} → ${valueOf(cell.values[at])}`);
  const since = paths.some((at) => JSON.stringify(savedValue(project, at) ?? null) !== JSON.stringify(one.cells[0].values[at])) ? " " + say("use.since") : "";
  confirm({ title: say("use.title", { n: cell.cell, project: project.name }), hint: (changes.join("; ") || say("use.same")) + "." + since, label: say("use.button") }, async () => {
    await call("patch-project", { path, body: cell.projectConfigOverride, match: project.updatedAt });
    announce(say("use.done"));
    applied();
  });
}

/**
 * Returns the table of an experiment.
 * @param {any} one the experiment
 * @param {(cell: Cell) => void} applied is called when a configuration became the saved one
 */
export function experimentTable(one, applied) {
  const ended = one.cells.some((/** @type {Cell} */ cell) => Object.keys(cell.scores).length);
  const measured = shown.filter((name) => one.cells.some((/** @type {Cell} */ cell) => cell.scores[name]));
  const priced = one.cells.some((/** @type {Cell} */ cell) => cell.usage.currency);
  const rows = one.cells.map((/** @type {Cell} */ cell) => [
    [h("strong", {}, number(cell.cell), cell.cell === 1 && ` · ${say("cell.saved")}`), ...settingsOf(cell).map((line) => h("div", { class: "quiet" }, line))],
    cell.verdict && [
      h("div", { class: `verdict ${cell.verdict}` }, say(`verdict.${/** @type {"better"} */ (cell.verdict)}`)),
      actionButton(say("use.button"), () => attempt(() => use(one, cell, () => applied(cell))), { "aria-label": `${say("use.button")}: ${cell.cell}` }), " ",
      h("a", { href: `/evaluations/compare?a=${one.id}&b=${one.id}&bc=${cell.cell}`, "aria-label": `${say("eval.compare")}: ${cell.cell}` }, say("eval.compare")),
    ],
    ...measured.map((name) => meanOf(cell, name)), ...(priced ? [costOf(cell)] : []),
  ]);
  return h("section", { class: "experiment", "aria-label": say("eval.experiment") }, h("h2", {}, say("eval.experiment")), h("p", { class: "quiet" }, say(ended ? "cell.hint" : "cell.wait")),
    smallTable(say("eval.experiment"), [say("cell.configuration"), say("cell.verdict"), ...measured.map((name) => say(`eval.${name}`)), ...(priced ? [say("cell.cost")] : [])], rows, measured.length + (priced ? 1 : 0)));
}
