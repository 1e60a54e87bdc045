// Documents that failed or wait, by cause, with the buttons that mend them.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { smallTable } from "./checks.js";
import { h } from "./dom.js";
import { moment, number } from "./language.js";
import { t } from "./operations_words.js";
import { causeOf } from "./words/causes.js";

/**
 * @typedef {object} Summary (schema DocumentSummary)
 * @property {Record<string, number>} by_status
 * @property {{code: string, count: number, acknowledged: number, example_id?: string, message?: string, repair?: string, action?: Action}[]} by_code
 * @property {{code?: string, message: string, count: number, since: string}[]} waiting
 */

/** @typedef {"retry" | "reingest" | "acknowledge"} Action */
/** @typedef {(act: () => Promise<any>) => () => Promise<any>} Then does something and reads the page again */

const routes = /** @type {const} */ ({ retry: "retry-documents", reingest: "reingest-documents", acknowledge: "acknowledge-documents" });

/**
 * Acts on all documents of a filter, and says what was done.
 * @param {Action} action
 * @param {Record<string, any>} filter
 * @returns {Promise<string>}
 */
async function actOn(action, filter) {
  const answer = await call(routes[action], { body: { filter } });
  return t(answer.refused.length ? "ops.done.refused" : "ops.done", { n: number(answer.started), refused: number(answer.refused.length) });
}

/**
 * Returns the table of failed documents, or why there is none.
 * @param {Summary} summary
 * @param {Then} then
 */
export function failedTable(summary, then) {
  const failed = summary.by_code.filter((one) => one.count > 0);
  const known = summary.by_code.reduce((sum, one) => sum + one.acknowledged, 0);
  const note = known > 0 && h("p", { class: "quiet" }, t("ops.acknowledged", { n: number(known) }));
  if (!failed.length) return h("div", {}, h("p", { class: "quiet" }, t("ops.none.failed")), note);
  return h("div", {}, smallTable(t("ops.failed"), [t("ops.cause"), t("ops.count")], failed.map((one) => [[
    h("p", {}, h("strong", {}, one.code), " ", causeOf({ code: one.code, message: one.message ?? "" })), one.repair && h("p", { class: "quiet" }, t("ops.first", { repair: one.repair })),
    h("div", { class: "row" }, ...buttonsOf(one.code, one.action ?? "acknowledge", then),
      one.example_id && h("a", { href: "/documents/" + encodeURIComponent(one.example_id) }, t("ops.example"))),
  ], number(one.count)]), 1), note);
}

/**
 * @param {string} code
 * @param {Action} action
 * @param {Then} then
 */
function buttonsOf(code, action, then) {
  const acknowledge = /** @type {const} */ ("acknowledge");
  return (action === acknowledge ? [action] : [action, acknowledge]).map((one) =>
    actionButton(t(`ops.${one}`), then(() => actOn(one, { status: "error", code })), { class: one === action && one !== acknowledge && "first", "aria-label": `${t(`ops.${one}`)}: ${code}` }));
}

/**
 * Returns the table of waiting documents, or why there is none.
 * @param {Summary} summary
 * @param {Then} then
 */
export function waitingTable(summary, then) {
  if (!summary.waiting.length) return h("p", { class: "quiet" }, t("ops.none.waiting"));
  return smallTable(t("ops.waiting"), [t("ops.cause"), t("ops.since"), t("ops.count")], summary.waiting.map(({ code, message, since, count }) => [[
    h("p", {}, code && h("strong", {}, code), " ", causeOf({ code, message })),
    code && actionButton(t("ops.now"), then(() => actOn("retry", { status: "pending", code })), { "aria-label": `${t("ops.now")}: ${code}` }),
  ], moment(since), number(count)]), 1);
}

/**
 * Returns what says which documents would be made otherwise today.
 * @param {import("./health.js").Readiness} ready
 * @param {Then} then
 */
export function staleDocuments(ready, then) {
  const found = ready.staleEmbeddings ?? [];
  const again = () => actionButton(t("ops.stale.mend"), then(() => actOn("reingest", { stale: true })), { class: "first" });
  const counted = h("div", { class: "row" }, actionButton(t("ops.stale.count"), async () => {
    const { matched } = await call("reingest-documents", { body: { filter: { stale: true }, dry_run: true } });
    counted.replaceChildren(h("span", {}, t(matched ? "ops.stale.settings" : "ops.stale.none", { n: number(matched) })), ...(matched ? [again()] : []));
  }));
  if (!found.length) return counted;
  return h("div", {}, ...found.map((one) => h("p", { class: "wrong" }, t("ops.stale", { n: number(one.documents), old: one.embeddedWith, now: one.configured }),
    one.reindexing ? " " + t("ops.stale.running", { n: number(one.reindexing) }) : "")), again());
}
