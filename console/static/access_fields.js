// Fields of documents that several forms have: who sees them, and their metadata.

import { h } from "./dom.js";
import { t } from "./language.js";

/** Returns the names of a list that is typed with commas. @param {HTMLInputElement} field */
export function namesIn(field) {
  return field.value.split(",").map((one) => one.trim()).filter(Boolean);
}

/**
 * Returns the fields of who sees a document.
 * @param {{workspace?: boolean, users?: string[], groups?: string[]} | undefined} access
 */
export function accessFields(access) {
  const list = (/** @type {string[] | undefined} */ names) => (names ?? []).join(", ");
  const everybody = h("input", { type: "checkbox", name: "everybody", checked: access?.workspace });
  const users = h("input", { name: "users", value: list(access?.users) });
  const groups = h("input", { name: "groups", value: list(access?.groups) });
  return {
    element: h("fieldset", {}, h("legend", {}, t("doc.access")), h("label", { class: "choice" }, everybody, t("doc.access.workspace")),
      h("label", {}, t("doc.access.users.list"), users), h("label", {}, t("doc.access.groups.list"), groups), h("p", { class: "quiet" }, t("doc.access.hint"))),
    value: () => ({ workspace: everybody.checked, users: namesIn(users), groups: namesIn(groups) }),
  };
}

/**
 * Returns the field of metadata, as JSON. The browser says that it is none when the form is
 * checked.
 * @param {Record<string, any>} metadata
 */
export function metadataField(metadata) {
  const field = h("textarea", { rows: 3, name: "metadata", spellcheck: "false", class: "code", oninput: () => check() }, Object.keys(metadata).length ? JSON.stringify(metadata, null, 2) : "");
  const check = () => {
    let wrong = "";
    try {
      const parsed = JSON.parse(field.value || "{}");
      if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) wrong = t("doc.metadata.object");
    } catch (failure) {
      wrong = /** @type {Error} */ (failure).message;
    }
    field.setCustomValidity(wrong && `${t("doc.metadata")}: ${wrong}`);
  };
  return { element: h("label", {}, t("doc.metadata.json"), field), value: () => JSON.parse(field.value || "{}") };
}
