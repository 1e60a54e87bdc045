// The audit: who did what and which texts left, with filters that the address keeps.

import { accessTabs } from "../access_frame.js";
import { actionButton } from "../action.js";
import { call } from "../api.js";
import { fill, h } from "../dom.js";
import { inLanguage, moment, number, t as common } from "../language.js";
import { pagedTable } from "../paged_table.js";
import { keepFilters } from "../router.js";
import { audit as words } from "../words/audit.js";

/** @typedef {{seq: number, at: string, actor: string, action: string, object: string, outcome: string, request_id: string, address: string, details: Record<string, any>}} Entry (schema Entry) */

/** @type {(key: keyof typeof words, values?: Record<string, string | number>) => string} */
const t = (key, values) => inLanguage(words[key], values);

/** The filters that are texts, and the days. */
const texts = /** @type {const} */ (["actor", "action", "object"]);
const days = /** @type {const} */ (["since", "until"]);

/** Returns the filters, with days as the API has times. @param {Record<string, HTMLInputElement>} fields */
function queryOf(fields) {
  const query = Object.fromEntries(texts.map((name) => [name, fields[name].value.trim()]));
  for (const name of days) query[name] = fields[name].value && new Date(`${fields[name].value}T00:00:00`).toISOString();
  return query;
}

/** @param {Entry} entry */
function cellsOf(entry) {
  const details = h("details", {}, h("summary", {}, t("audit.details")), h("pre", { class: "quiet" }, JSON.stringify({ request_id: entry.request_id, ...entry.details }, null, 2)));
  const state = h("span", { class: `state ${entry.outcome === "ok" ? "published" : "error"}` }, entry.outcome);
  return [number(entry.seq), moment(entry.at), entry.actor, entry.action, entry.object, state, entry.address, details];
}

/** @type {import("../router.js").Open} */
export function open(_, asked) {
  /** @type {Record<string, HTMLInputElement>} */
  const fields = {};
  const change = () => {
    keepFilters("/audit", Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value.trim()])));
    table.restart();
  };
  for (const name of texts) fields[name] = h("input", { type: "search", name, maxlength: 300, value: asked.get(name) ?? "", "aria-label": t(`audit.${name}`), placeholder: t(`audit.${name}`), onchange: change });
  for (const name of days) fields[name] = h("input", { type: "date", name, value: asked.get(name) ?? "", onchange: change });
  const table = pagedTable({
    name: t("audit"),
    columns: /** @type {const} */ (["seq", "at", "actor", "action", "object", "outcome", "address", "details"]).map((name) => ({ title: t(`audit.${name}`), number: name === "seq" })),
    load: (cursor) => call("list-audit", { query: { ...queryOf(fields), limit: 100, cursor } }),
    key: (/** @type {Entry} */ entry) => String(entry.seq),
    cells: cellsOf,
    none: () => t("audit.none"),
  });
  const outcome = h("p", { role: "status", class: "quiet" });
  const verify = async () => {
    const report = await call("verify-audit");
    const broken = report.broken;
    outcome.className = broken ? "wrong" : "quiet";
    fill(outcome, broken ? `${t("audit.broken", broken)} ${broken.message}` : t("audit.whole", { count: number(report.entries) }));
  };
  return { title: t("audit"), stop: table.stop, element: h("div", { class: "padded documents audit" },
    h("h1", {}, common("access")), accessTabs("audit"),
    h("div", { class: "row" }, h("h2", {}, t("audit")), h("span", { class: "space" }), actionButton(t("audit.verify"), verify)),
    h("p", { class: "quiet" }, t("audit.hint")), outcome,
    h("div", { class: "row filters" }, ...texts.map((name) => fields[name]), ...days.map((name) => h("label", { class: "choice" }, t(`audit.${name}`), fields[name]))),
    table.element) };
}
