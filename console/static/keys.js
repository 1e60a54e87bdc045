// API keys: the list, a new one, and an end to one.

import { actionForm, choices, field, removal, showOnce } from "./action_form.js";
import { call } from "./api.js";
import { h } from "./dom.js";
import { moment } from "./language.js";
import { t } from "./operations_words.js";
import { pagedTable } from "./paged_table.js";
import { projectChoice } from "./project_choice.js";

/**
 * Returns the keys of a project, or of the whole workspace.
 * @param {string} project its id; "" = all keys
 * @returns {{element: HTMLElement, stop: () => void}}
 */
export function keys(project) {
  const table = pagedTable({
    name: t("keys"),
    columns: [t("doc.name"), t("keys.scopes"), t("ask.project"), t("keys.expires"), t("keys.created"), t("doc.status")].map((title) => ({ title })),
    load: async (cursor) => {
      const found = await call("list-keys", { query: { limit: 100, cursor } });
      return { ...found, data: found.data.filter((/** @type {any} */ key) => !project || key.project_id === project) };
    },
    key: (/** @type {any} a KeyView */ key) => key.id,
    cells: (key) => [[key.name, " ", h("code", { class: "quiet" }, key.prefix)], key.scopes.join(", "), key.project_id ?? t("ask.every"), key.expires_at ? moment(key.expires_at) : t("keys.never"), moment(key.created_at),
      key.revoked_at ? t("keys.revoked", { at: moment(key.revoked_at) }) : removal(t("keys.revoke"), key.name, async () => {
        await call("revoke-key", { path: { id: key.id } });
        table.restart();
      }, { hint: t("keys.revoke.hint") })],
    none: () => t("keys.none"),
  });
  const name = field(t("doc.name"), { name: "name", maxlength: 200 });
  const scopes = choices(t("keys.scopes"), ["read", "write", "admin"], 1);
  const expires = h("input", { type: "date" });
  const requests = h("input", { type: "number", min: 1, max: 1000000 });
  const tokens = h("input", { type: "number", min: 1 });
  const of = project ? null : projectChoice("", () => {});
  const form = actionForm(t("keys.new"), async () => {
    const end = expires.value ? new Date(`${expires.value}T23:59:59`).toISOString() : undefined;
    const limits = { requestsPerMinute: Number(requests.value) || undefined, tokensPerDay: Number(tokens.value) || undefined };
    const made = await call("create-key", { body: { name: name.value, scopes: scopes.chosen(), expires_at: end, project_id: project || of?.value || undefined, limits } });
    showOnce([[made.name, made.key]]);
    table.restart();
  }, name, of, scopes.element, h("label", { class: "choice" }, t("keys.expires"), expires),
    h("label", { class: "choice" }, t("use.limit.requests"), requests), h("label", { class: "choice" }, t("use.limit.tokens"), tokens));
  return { element: h("div", { class: "full" }, form, table.element), stop: table.stop };
}
