// What projects, keys and people have used, by day.

import { attempt } from "../action.js";
import { call } from "../api.js";
import { barChart } from "../chart.js";
import { smallTable } from "../checks.js";
import { fill, h } from "../dom.js";
import { money, number } from "../language.js";
import { t } from "../operations_words.js";
import { rename } from "../router.js";

/** @typedef {Record<"runs" | "questions" | "documents" | "prompt_tokens" | "completion_tokens" | "embedding_tokens" | "rerank_tokens" | "model_calls" | "seconds", number> & {cost?: number}} Sum (schema UsageSum) */
/** @typedef {Partial<Record<"requestsPerMinute" | "tokensPerDay" | "documents" | "bytes" | "costPerDay", number>>} Limits (schema UseLimits) */
/** @typedef {{tokens: number, cost: number, documents: number | null, bytes: number | null}} Used (schema UsedToday) */
/** @typedef {{id: string, name: string, total: Sum, days: ({day: string} & Sum)[], limits: Limits | null, used_today: Used}} Owner (schema OwnedUsage) */
/** @typedef {{from: string, to: string, currency?: string, data: Owner[]}} Usage (schema WorkspaceUsage) */

const kinds = /** @type {const} */ (["project", "key", "user"]);

/** What the charts show of a sum. */
const measures = /** @type {const} */ ([["use.questions", (/** @type {Sum} */ sum) => sum.questions], ["use.documents", (/** @type {Sum} */ sum) => sum.documents], ["use.tokens", tokensOf]]);

/** @param {Sum} sum */
function tokensOf(sum) {
  return sum.prompt_tokens + sum.completion_tokens + sum.embedding_tokens + sum.rerank_tokens;
}

/** Returns how costs are shown, null where there are no prices. @param {Usage} usage */
function costsOf({ currency }) {
  if (!currency) return null;
  return (/** @type {number} */ value) => money(value, currency);
}

/** @param {Owner} owner @param {string} by */
function nameOf(owner, by) {
  return owner.name || owner.id || t(by === "project" ? "ask.every" : "use.nobody");
}

/** @type {import("../router.js").Open} */
export async function open(_, query) {
  const by = h("select", { onchange: () => void attempt(read) }, ...kinds.map((one) => h("option", { value: one, selected: query.get("by") === one }, t(`use.${one}`))));
  const from = h("input", { type: "date", value: query.get("from") ?? "", onchange: () => void attempt(read) });
  const to = h("input", { type: "date", value: query.get("to") ?? "", onchange: () => void attempt(read) });
  const whose = h("select", { onchange: () => draw() });
  const content = h("div");
  /** @type {Usage} */
  let usage;
  const read = async () => {
    usage = await call("get-usage", { query: { by: by.value, from: from.value, to: to.value } });
    [from.value, to.value] = [usage.from, usage.to];
    fill(whose, h("option", { value: "" }, t("use.all")), ...usage.data.map((one, at) => h("option", { value: at }, nameOf(one, by.value))));
    rename(`/usage?by=${by.value}&from=${usage.from}&to=${usage.to}`);
    draw();
  };
  const draw = () => fill(content, ...sections(usage, by.value, whose.value === "" ? usage.data : [usage.data[Number(whose.value)]]));
  await read();
  return { title: t("usage"), element: h("div", { class: "padded operations" },
    h("div", { class: "row" }, h("h1", {}, t("usage"))), h("p", { class: "quiet" }, t("use.hint")),
    h("div", { class: "row period" }, ...(/** @type {const} */ ([["use.by", by], ["use.from", from], ["use.to", to], ["use.whose", whose]])).map(([word, field]) => h("label", {}, t(word), field))),
    content) };
}

/**
 * @param {Usage} usage
 * @param {string} by
 * @param {Owner[]} shown
 */
function sections(usage, by, shown) {
  if (!usage.data.length) return [h("p", { class: "empty quiet" }, t("use.none"))];
  const days = daysOf(usage, shown);
  const cost = costsOf(usage);
  const owners = usage.data.map((one) => [nameOf(one, by), ...[one.total.questions, one.total.documents, tokensOf(one.total), one.total.model_calls, Math.round(one.total.seconds)].map((value) => number(value)), ...(cost ? [cost(one.total.cost ?? 0)] : [])]);
  const sumOf = (/** @type {(sum: Sum) => number} */ valueOf) => days.map((one) => ({ day: one.day, value: one.sums.reduce((sum, other) => sum + valueOf(other), 0) }));
  const kind = t(`use.${/** @type {"project"} */ (by)}`);
  return [
    ...measures.map(([word, valueOf]) => measured(t("use.per.day", { what: t(word) }), t(word), sumOf(valueOf))),
    cost && measured(t("use.per.day", { what: t("use.cost") }), t("use.cost"), sumOf((sum) => sum.cost ?? 0), cost),
    h("h2", {}, t("usage")), by === "key" && h("p", { class: "quiet" }, t("use.hint.key")),
    smallTable(t("usage"), [kind, t("use.questions"), t("use.documents"), t("use.tokens"), t("use.calls"), t("use.seconds"), ...(cost ? [t("use.cost")] : [])], owners, cost ? 6 : 5),
    cost && h("p", { class: "quiet" }, t("use.hint.cost")),
    limitsSection(shown, by),
  ];
}

/** What the table of limits shows: each limit with what was used of it. */
const limits = /** @type {const} */ ([
  ["requestsPerMinute", "use.limit.requests", () => null],
  ["tokensPerDay", "use.limit.tokens", (/** @type {Used} */ used) => used.tokens],
  ["costPerDay", "use.limit.cost", (/** @type {Used} */ used) => used.cost],
  ["documents", "use.limit.documents", (/** @type {Used} */ used) => used.documents],
  ["bytes", "use.limit.bytes", (/** @type {Used} */ used) => used.bytes],
]);

/** Returns the limits of those that have any, with what they have used today. @param {Owner[]} shown @param {string} by */
function limitsSection(shown, by) {
  const rows = shown.filter((one) => one.limits).map((one) => [nameOf(one, by), ...limits.map(([name, , usedOf]) => {
    const limit = one.limits?.[name];
    if (!limit) return "";
    const used = usedOf(one.used_today);
    return used === null ? number(limit) : `${number(used)} / ${number(limit)}`;
  })]);
  if (!rows.length) return null;
  return h("section", {}, h("h2", {}, t("use.limits")), h("p", { class: "quiet" }, t("use.hint.limits")),
    smallTable(t("use.limits"), [t(`use.${/** @type {"project"} */ (by)}`), ...limits.map(([, word]) => t(word))], rows, limits.length));
}

/**
 * Returns a chart, and its days that have a value in a table beside it.
 * @param {string} title
 * @param {string} unit
 * @param {{day: string, value: number}[]} days
 * @param {(value: number) => string} [value] returns a value for people
 */
function measured(title, unit, days, value = (one) => number(one)) {
  const some = days.filter((one) => one.value > 0).reverse();
  return h("section", {}, h("h2", {}, title), h("div", { class: "measured" }, barChart(title, days, value),
    smallTable(title, [t("use.day"), unit], some.map((one) => [one.day, value(one.value)]), 1)));
}

/**
 * Returns all days of the period, each with what was used on it.
 * @param {Usage} usage
 * @param {Owner[]} shown
 */
function daysOf({ from, to }, shown) {
  const found = Map.groupBy(shown.flatMap((one) => one.days), (one) => one.day);
  /** @type {{day: string, sums: Sum[]}[]} */
  const days = [];
  for (const at = new Date(from); at <= new Date(to); at.setUTCDate(at.getUTCDate() + 1)) {
    const day = at.toISOString().slice(0, 10);
    days.push({ day, sums: found.get(day) ?? [] });
  }
  return days;
}
