// What the pages of evaluations have in common.

import { h } from "./dom.js";
import { inLanguage, number, t } from "./language.js";
import { blocks, plain, render } from "./markdown.js";
import { evaluations as words } from "./words/evaluations.js";

/** @typedef {any} Evaluation an evaluation of the API (schema EvaluationView) */

/** @typedef {keyof typeof words} Word */

/** The measures, in the order in which they are shown. */
export const measures = /** @type {const} */ (["score", "context", "faithfulness", "ndcg10", "recall10", "mrr10", "latency", "tokens"]);

/** The scores that a judge and a person may give. */
export const scores = /** @type {const} */ ([0, 1.5, 2]);

/** Returns the words of a key of the pages of evaluations. @param {Word} key @param {Record<string, string | number>} [values] */
export function say(key, values) {
  return inLanguage(words[key], values);
}

/** Returns how many digits of a number are shown. @param {number} value */
const digits = (value) => ({ maximumFractionDigits: Math.abs(value) >= 100 ? 0 : 2 });

/** Shows a number, a small one with two digits. @param {number | null | undefined} value */
export function short(value) {
  return value === null || value === undefined ? "" : number(value, digits(value));
}

/** Shows a difference with its sign. @param {number} value */
export function signed(value) {
  return number(value, { ...digits(value), signDisplay: "exceptZero" });
}

/** Returns the links between the lists of these pages. @param {"evaluations" | "sets" | "insights"} current */
export function parts(current) {
  const links = /** @type {const} */ ([["evaluations", "/evaluations", t("evaluations")], ["sets", "/evaluations/sets", say("eval.sets")], ["insights", "/evaluations/insights", say("eval.insights")]]);
  return h("nav", { class: "parts", "aria-label": t("evaluations") }, ...links.map(([name, href, title]) => h("a", { href, "aria-current": name === current && "page" }, title)));
}

/** Returns a link to a page above. @param {string} href @param {string} title */
export function back(href, title) {
  return h("p", {}, h("a", { href }, "‹ ", title));
}

/** Returns an answer of a model, without links of its citations. @param {string | null | undefined} text */
export function answerText(text) {
  return h("div", { class: "words" }, ...blocks(text ?? "").map((block) => render(block, plain)));
}

/** Returns the answer to an item, or why it is not shown. @param {any} item */
export function answerTo(item) {
  return item.withheld ? h("p", { class: "quiet" }, say("eval.withheld")) : answerText(item.answer);
}

/** Names an evaluation for a choice. @param {Evaluation} one @param {string} at when it was started */
export function nameOf(one, at) {
  return `${one.test_set_name} · ${at} · ${one.id.slice(0, 8)}`;
}

/** Returns a field with its label above. @param {string} title @param {HTMLElement} control @param {string} [help] */
export function labelled(title, control, help) {
  return h("label", {}, h("span", {}, title), control, help && h("span", { class: "quiet" }, help));
}
