// API keys: the list, a new one, and an end to one.

import { confirm } from "./action.js";
import { actionForm, choices, showOnce } from "./action_form.js";
import { call } from "./api.js";
import { h } from "./dom.js";
import { moment, t } from "./language.js";
import { pagedTable } from "./paged_table.js";
import { projectChoice } from "./project_choice.js";

/**
 * @typedef {object} Key (schema KeyView)
 * @property {string} id
 * @property {string} name
 * @property {string} prefix
 * @property {string | null} project_id
 * @property {string[]} scopes
 * @property {string | null} expires_at
 * @property {string} created_at
 * @property {string | null} revoked_at
 */

/**
 * Returns the keys of a project, or of the whole workspace.
 * @param {string} project its id; "" = all keys
 * @returns {{element: HTMLElement, stop: () => void}}
 */
export function keys(project) {
  const columns = [t("keys.name"), t("keys.prefix"), t("keys.scopes"), ...(project ? [] : [t("ask.project")]), t("keys.expires"), t("keys.created"), t("keys.state")];
  const load = async (/** @type {string} */ cursor) => {
    const found = await call("list-keys", { query: { limit: 100, cursor } });
    return project ? { ...found, data: found.data.filter((/** @type {Key} */ key) => key.project_id === project) } : found;
  };
  /** @type {import("./paged_table.js").Table<Key>} */
  const table = pagedTable({
    name: t("keys"), columns: columns.map((title) => ({ title })), load, key: (key) => key.id,
    cells: (key) => [key.name, h("code", {}, key.prefix), key.scopes.join(", "), ...(project ? [] : [key.project_id ?? t("ask.every")]),
      key.expires_at ? moment(key.expires_at) : t("keys.never"), moment(key.created_at), state(key)],
    none: () => t("keys.none"),
  });
  const state = (/** @type {Key} */ key) => key.revoked_at
    ? h("span", { class: "quiet" }, t("keys.revoked", { at: moment(key.revoked_at) }))
    : h("button", { type: "button", "aria-label": `${t("keys.revoke")} ${key.name}`, onclick: () => revoke(key) }, t("keys.revoke"));
  const revoke = (/** @type {Key} */ key) => confirm({ title: t("keys.revoke.title", { name: key.name }), hint: t("keys.revoke.hint"), label: t("keys.revoke") }, async () => {
    await call("revoke-key", { path: { id: key.id } });
    table.restart();
  });
  const element = h("div", { class: "full" }, newKeyForm(project, () => table.restart()), table.element);
  return { element, stop: table.stop };
}

/**
 * @param {string} project
 * @param {() => void} made
 */
function newKeyForm(project, made) {
  const name = h("input", { name: "name", required: true, maxlength: 200, "aria-label": t("keys.name"), placeholder: t("keys.name") });
  const scopes = choices(t("keys.scopes"), ["read", "write", "admin"], ["read"]);
  const expires = h("input", { type: "date", name: "expires" });
  const of = projectChoice(project, () => {});
  return actionForm(t("keys.new"), async () => {
    const end = expires.value ? new Date(`${expires.value}T23:59:59`).toISOString() : undefined;
    const key = await call("create-key", { body: { name: name.value, scopes: scopes.chosen(), expires_at: end, project_id: project || of.value || undefined } });
    showOnce([[key.name, key.key]]);
    made();
  }, name, scopes.element, h("label", { class: "choice" }, t("keys.expires"), expires), project ? null : of);
}
