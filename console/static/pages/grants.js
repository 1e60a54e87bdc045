// The grants of a workspace, with a filter that the address keeps.

import { accessPage, endOf } from "../access_frame.js";
import { removal } from "../action_form.js";
import { call, may } from "../api.js";
import { h } from "../dom.js";
import { addGrant } from "../grant_form.js";
import { capital, moment, t as common } from "../language.js";
import { pagedTable } from "../paged_table.js";
import { projectNames } from "../project_choice.js";
import { documentLink, documentNames, documentsAtOnce, makerOf, t } from "../rights.js";
import { keepFilters } from "../router.js";

/**
 * @typedef {object} Grant (schema GrantView)
 * @property {string} id
 * @property {{user?: string, group?: string, project?: string}} subject
 * @property {{document_id?: string, tag?: string, project_id?: string}} object
 * @property {"allow" | "deny"} effect
 * @property {"read" | "write"} permission
 * @property {string} reason
 * @property {string | null} expires_at
 * @property {string} created_by
 */

/** The filters, in the pairs of which the API takes one each. */
const pairs = /** @type {const} */ ([["user", "group"], ["document_id", "tag"]]);

/**
 * Returns the cells of a grant: its effect, whom it is for, what it is on, why, when it ends, and
 * who gave it.
 * @param {Grant} grant
 * @param {{documents: Map<string, string>, projects: Map<string, string>}} names
 */
export function grantCells({ effect, permission, subject, object, reason, expires_at: end, created_by: by }, { documents, projects }) {
  const kind = (/** @type {string} */ words, /** @type {import("../dom.js").Child} */ name) => [h("span", { class: "quiet" }, words), " ", name];
  return [
    h("span", { class: `state ${effect === "allow" ? "published" : "error"}` }, t(`grant.${effect}.${permission}`)),
    subject.project ? kind(t("grant.project"), projects.get(subject.project) ?? subject.project) : subject.group ? kind(t("grant.group"), subject.group) : kind(t("grant.user"), subject.user),
    object.document_id ? documentLink(object.document_id, documents) : object.tag ? kind(t("grant.tag"), object.tag) : kind(t("grant.project_id"), projects.get(object.project_id ?? "") ?? object.project_id),
    reason, endOf(end, moment), makerOf(by)];
}

/** @type {import("../router.js").Open} */
export async function open(_, asked) {
  const names = { documents: /** @type {Map<string, string>} */ (new Map()), projects: await projectNames() };
  /** @type {Record<string, HTMLInputElement>} */
  const fields = {};
  const words = { user: capital(t("grant.user")), group: capital(t("grant.group")), document_id: t("grant.filter.document"), tag: capital(t("grant.tag")) };
  const changed = () => {
    keepFilters("/grants", Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value.trim()])));
    table.restart();
  };
  for (const pair of pairs) {
    for (const name of pair) {
      fields[name] = h("input", { type: "search", name, maxlength: 256, value: asked.get(name) ?? "", "aria-label": words[name], placeholder: words[name], onchange: () => {
        for (const other of pair) if (other !== name) fields[other].value = "";
        changed();
      } });
    }
  }
  const table = pagedTable({
    name: t("rights.title"),
    columns: [t("grant.effect"), t("grant.subject"), t("grant.object"), t("grant.reason"), t("grant.ends"), t("grant.by"), common("actions")].map((title) => ({ title })),
    load: async (cursor) => {
      const query = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value.trim()]));
      /** @type {{data: Grant[], next_cursor: string | null}} */
      const found = await call("list-grants", { query: { ...query, limit: documentsAtOnce, cursor } });
      const ids = found.data.map((one) => one.object.document_id ?? "").filter(Boolean);
      for (const [id, name] of await documentNames([...new Set(ids)])) names.documents.set(id, name);
      return found;
    },
    key: (/** @type {Grant} */ grant) => grant.id,
    cells: (grant) => [...grantCells(grant, names), may("grants.write") && removal(t("grant.remove"), grant.subject.user ?? grant.subject.group ?? grant.subject.project ?? "", async () => {
      await call("delete-grant", { path: { id: grant.id } });
      table.drop(grant.id);
    }, { hint: t("grant.remove.hint") })],
    none: () => t("grant.none"),
  });
  const add = may("grants.write") && h("button", { type: "button", class: "first", onclick: () => addGrant(table.restart) }, t("grant.new"));
  return {
    title: common("access"), stop: table.stop,
    element: accessPage("grants", [add], h("p", { class: "quiet" }, t("grant.hint")), h("div", { class: "row filters" }, ...Object.values(fields)), h("div", { class: "full" }, table.element)),
  };
}
