// Two evaluations, or two configurations of an experiment: how they differ, and the answers to
// what changed side by side.

import { call, reasonOf } from "./api.js";
import { smallTable } from "./checks.js";
import { fill, h } from "./dom.js";
import { answerTo, back, labelled, nameOf, say, short, signed } from "./evaluation_parts.js";
import { moment, number, t } from "./language.js";
import { rename } from "./router.js";
import { to } from "./routes_evaluations.js";

/** @typedef {{id: string, cell: number}} Side an evaluation and its configuration */

const atATime = 50; // changed items that are shown before one asks for more

/** @param {string} value of an option @returns {Side} */
const sideOf = (value) => ({ id: value.split("|")[0], cell: Number(value.split("|")[1]) });

/** Returns the options of the evaluations that have ended, each configuration for itself. @param {any[]} list @param {Side} chosen */
function optionsOf(list, chosen) {
  return list.flatMap((one) => Array.from({ length: one.configurations }, (_, at) => h("option", { value: `${one.id}|${at + 1}`, selected: one.id === chosen.id && at + 1 === chosen.cell },
    nameOf(one, moment(one.created_at)), one.configurations > 1 && ` · ${say("compare.cell", { n: number(at + 1) })}`)));
}

/** @param {URLSearchParams} query */
export async function openCompare(query) {
  const given = (/** @type {string} */ name, /** @type {string} */ cell) => ({ id: query.get(name) ?? "", cell: Number(query.get(cell) ?? 1) });
  const [a, b] = [given("a", "ac"), given("b", "bc")];
  const found = await call(to["list-evaluations"], { query: { limit: 200 } });
  const ended = found.data.filter((/** @type {any} */ one) => one.ended_at);
  for (const { id } of [a, b]) {
    if (id && !ended.some((/** @type {any} */ one) => one.id === id)) ended.unshift(await call(to["get-evaluation"], { path: { evaluation: id }, query: { limit: 1 } }));
  }
  if (!b.id && ended.length) [a.id, b.id] = [a.id || (ended[1] ?? ended[0]).id, ended[0].id];
  const choice = (/** @type {Side} */ chosen) => h("select", { onchange: () => void compare() }, h("option", { value: "" }, ""), ...optionsOf(ended, chosen));
  const [first, second] = [choice(a), choice(b)];
  const place = h("div");
  const compare = async () => {
    if (!first.value || !second.value) return fill(place);
    const [before, after] = [sideOf(first.value), sideOf(second.value)];
    rename(`/evaluations/compare?a=${before.id}&ac=${before.cell}&b=${after.id}&bc=${after.cell}`);
    try {
      const path = { evaluation: before.id, candidate: after.id };
      const compared = await call(to["compare-evaluations"], { path, query: { cell: before.cell, candidate_cell: after.cell } });
      fill(place, ...sectionsOf(compared, before, after));
    } catch (failure) {
      fill(place, h("p", { class: "wrong", role: "alert" }, reasonOf(failure)));
    }
  };
  await compare();
  const element = h("div", { class: "padded document" }, back("/evaluations", t("evaluations")), h("h1", {}, say("eval.compare")),
    ended.length ? h("div", { class: "columns compared" }, labelled(say("compare.before"), first), labelled(say("compare.after"), second)) : h("p", { class: "empty quiet" }, say("eval.none")), place);
  return { title: say("eval.compare"), element };
}

/** Returns what a comparison shows. @param {any} compared (schema ComparisonView) @param {Side} before @param {Side} after */
function sectionsOf(compared, before, after) {
  const { differences, changed, paired, verdict, note, warnings } = compared;
  const rows = differences.map((/** @type {any} */ one) => [say(`eval.${/** @type {"score"} */ (one.measure)}`), signed(one.mean), `${signed(one.low)} … ${signed(one.high)}`, number(one.improved), number(one.worsened),
    number(one.p_holm, { maximumFractionDigits: 4 }), h("span", { class: `verdict ${one.verdict}` }, say(`verdict.${/** @type {"better"} */ (one.verdict)}`))]);
  const titles = /** @type {const} */ (["eval.measure", "compare.difference", "eval.interval", "compare.improved", "compare.worsened", "compare.p", "cell.verdict"]);
  return [
    h("p", { role: "status" }, h("strong", { class: `verdict ${verdict}` }, say(`verdict.${/** @type {"better"} */ (verdict)}`)), " · ", say("compare.paired", { n: number(paired) })),
    ...warnings.map((/** @type {string} */ one) => h("p", { class: "notice" }, one)),
    rows.length > 0 && smallTable(say("compare.differences"), titles.map((one) => say(one)), rows), h("p", { class: "quiet" }, note),
    h("h2", {}, say("compare.changed")), changedList(changed, compared.questions, before, after),
  ].filter(Boolean);
}

/** @param {any[]} changed @param {Record<string, string>} questions @param {Side} before @param {Side} after */
function changedList(changed, questions, before, after) {
  /** @type {Map<string, any[]>} */
  const items = new Map();
  for (const one of changed) items.set(one.item, [...(items.get(one.item) ?? []), one]);
  const list = h("div", { class: "changed", "data-list": "" });
  const all = [...items];
  if (!all.length) return h("p", { class: "quiet" }, say("compare.same"));
  const more = h("button", { type: "button", onclick: () => show() }, t("more"));
  const show = () => {
    const from = list.children.length;
    list.append(...all.slice(from, from + atATime).map(([item, changes]) => changedItem(item, questions[item] ?? item, changes, before, after)));
    more.hidden = list.children.length >= all.length;
  };
  show();
  return h("div", {}, list, more);
}

/** @param {string} item @param {string} question @param {any[]} changes @param {Side} before @param {Side} after */
function changedItem(item, question, changes, before, after) {
  const place = h("div");
  let asked = false;
  const open = async () => {
    if (asked) return;
    asked = true;
    try {
      const sides = await Promise.all([before, after].map(({ id, cell }) => call(to["get-evaluation"], { path: { evaluation: id }, query: { item, cell, limit: 20 } })));
      const names = [say("compare.before"), say("compare.after")];
      fill(place, h("p", { class: "quiet" }, `${say("eval.reference")}: ${sides[0].items[0]?.reference ?? "–"}`), h("div", { class: "reader" }, ...sides.map((one, at) => h("section", { "aria-label": names[at] }, h("h3", {}, names[at]), ...one.items.flatMap(answerOf)))));
    } catch (failure) {
      asked = false;
      fill(place, h("p", { class: "wrong", role: "alert" }, reasonOf(failure)));
    }
  };
  const words = changes.map((one) => h("span", { class: `verdict ${one.after > one.before ? "better" : "worse"}` }, `${say(`eval.${/** @type {"score"} */ (one.measure)}`)} ${short(one.before)} → ${short(one.after)}`));
  return h("details", { ontoggle: () => void open() }, h("summary", { "data-item": "" }, question, " ", ...words.flatMap((one) => [one, " "])), place);
}

/** Returns the answer to an item with its scores. @param {any} item */
function answerOf(item) {
  const scores = /** @type {const} */ (["score", "context", "faithfulness"]).filter((name) => item[name] !== null && item[name] !== undefined).map((name) => `${say(`eval.${name}`)} ${short(item[name])}`);
  return [h("p", {}, h("strong", {}, scores.join(" · "))), item.error ? h("p", { class: "wrong" }, item.error.message) : answerTo(item), item.reason && h("p", { class: "quiet" }, item.reason),
    item.run_id && h("p", {}, h("a", { href: "/runs/" + encodeURIComponent(item.run_id) }, say("eval.run")))];
}
