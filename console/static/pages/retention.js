// How long projects keep what they have, and what is due.

import { accessPage, t } from "../access_frame.js";
import { actionButton, confirm } from "../action.js";
import { call } from "../api.js";
import { fill, h } from "../dom.js";
import { number, t as common } from "../language.js";
import { pagedTable } from "../paged_table.js";

/** @typedef {{classification?: string, tag?: string, days: number, action: "remove" | "inactive"}} Rule (schema RetentionRule) */
/** @typedef {{id: string, name: string, retention?: {documents?: Rule[] | null, conversations?: number | null, runs?: number | null} | null}} Project (of schema ProjectView) */
/** @typedef {{due: number, kept_by_hold: number, run_id: string | null, documents: number, conversations: number, runs: number}} Due (schema RetentionDue) */

/** Says a rule in words. @param {Rule} rule */
function sentenceOf({ classification, tag, days, action }) {
  const what = classification ? t("retention.rule.classification", { name: classification }) : tag ? t("retention.rule.tag", { name: tag }) : t("retention.rule.all");
  return t(action === "inactive" ? "retention.inactive" : "retention.remove", { what, days: number(days) });
}

/** Says for how many days something is kept. @param {number | null} [days] none = without a limit */
const daysOf = (days) => typeof days === "number" ? t("retention.days", { days: number(days) }) : h("span", { class: "quiet" }, t("retention.forever"));

/** Returns the counts of what is due, as words have them. @param {Due} due */
const counts = ({ documents, conversations, runs, kept_by_hold: held }) =>
  ({ documents: number(documents), conversations: number(conversations), runs: number(runs), held: number(held) });

/** @type {import("../router.js").Open} */
export function open() {
  const table = pagedTable({
    name: t("access.retention"),
    columns: [t("member.project"), t("retention.documents"), t("retention.conversations"), t("retention.runs"), common("actions")].map((title) => ({ title })),
    load: (cursor) => call("list-projects", { query: { limit: 100, cursor } }),
    key: (/** @type {Project} */ project) => project.id,
    cells: ({ id, name, retention }) => [name, retention?.documents?.length ? h("div", {}, ...retention.documents.map((rule) => h("div", {}, sentenceOf(rule)))) : daysOf(),
      daysOf(retention?.conversations), daysOf(retention?.runs), h("a", { href: `/projects/${encodeURIComponent(id)}/settings`, "aria-label": `${t("retention.change")}: ${name}` }, t("retention.change"))],
    none: () => t("retention.none"),
  });
  const found = h("div", { role: "status" });
  const count = async () => {
    /** @type {Due} */
    const due = await call("run-retention", { body: { dry_run: true } });
    fill(found, h("p", { class: "notice row" }, t("retention.due", counts(due)), due.due > 0 && h("button", { type: "button", onclick: () => remove(due) }, t("retention.run"))));
  };
  const remove = (/** @type {Due} */ due) => confirm({ title: t("retention.run"), hint: t("retention.run.hint", counts(due)), label: t("retention.run") }, async () => {
    const { run_id: run } = await call("run-retention", { body: {} });
    fill(found, h("p", { class: "notice" }, t("retention.started"), " ", h("a", { href: "/runs/" + encodeURIComponent(run) }, t("retention.follow"))));
  });
  const element = accessPage("retention", [actionButton(t("retention.count"), count, { class: "first" })], h("p", { class: "quiet" }, t("retention.hint")), found, h("div", { class: "full" }, table.element));
  return { title: t("access.retention"), element, stop: table.stop };
}
