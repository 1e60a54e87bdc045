// What can be changed of a document: tags, metadata, and who sees it.

import { attempt } from "./action.js";
import { call } from "./api.js";
import { h, openDialog } from "./dom.js";
import { t } from "./language.js";

/**
 * Asks for the changes of a document and makes them.
 * @param {any} doc (schema Document)
 * @param {() => Promise<void>} changed
 */
export function editDocument(doc, changed) {
  const list = (/** @type {string[]} */ names) => names.join(", ");
  const names = (/** @type {HTMLInputElement} */ field) => field.value.split(",").map((one) => one.trim()).filter(Boolean);
  const tags = h("input", { value: list(doc.tags ?? []) });
  const metadata = h("textarea", { rows: 4, spellcheck: "false", class: "code" }, JSON.stringify(doc.metadata ?? {}, null, 2));
  const everybody = h("input", { type: "checkbox", checked: doc.access?.workspace });
  const users = h("input", { value: list(doc.access?.users ?? []) });
  const groups = h("input", { value: list(doc.access?.groups ?? []) });
  const classification = h("input", { value: doc.classification ?? "", maxlength: 128 });
  const active = h("input", { type: "checkbox", checked: doc.status !== "inactive" });
  const hold = h("input", { type: "checkbox", checked: doc.legalHold });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const save = async () => {
    wrong.textContent = "";
    let parsed;
    try {
      parsed = JSON.parse(metadata.value || "{}");
    } catch (failure) {
      wrong.textContent = `${t("doc.metadata")}: ${/** @type {Error} */ (failure).message}`;
      return;
    }
    const removed = Object.keys(doc.metadata ?? {}).filter((key) => !(key in parsed)).map((key) => [key, null]);
    /** @type {Record<string, any>} */
    const body = {
      tags: names(tags), access: { workspace: everybody.checked, users: names(users), groups: names(groups) }, legal_hold: hold.checked,
      ...(JSON.stringify(parsed) === JSON.stringify(doc.metadata ?? {}) ? {} : { metadata: { ...parsed, ...Object.fromEntries(removed) } }),
      ...(classification.value === (doc.classification ?? "") ? {} : { classification: classification.value }),
      ...(doc.publishedVersion && active.checked !== (doc.status !== "inactive") ? { status: active.checked ? "published" : "inactive" } : {}),
    };
    if (!await attempt(() => call("patch-document", { path: { id: doc.id }, body }))) return;
    dialog.close();
    await changed();
  };
  const form = h("form", { class: "stacked", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    void save();
  } }, h("h2", {}, t("doc.edit")), h("label", {}, t("doc.tags.list"), tags), h("label", {}, t("doc.metadata"), metadata), h("label", {}, t("doc.classification"), classification),
  h("fieldset", {}, h("legend", {}, t("doc.access")), h("label", { class: "choice" }, everybody, t("doc.access.workspace")), h("label", {}, t("doc.access.users.list"), users), h("label", {}, t("doc.access.groups.list"), groups),
    h("p", { class: "quiet" }, t("doc.access.hint"))),
  h("label", { class: "choice" }, active, t("doc.active")), h("label", { class: "choice" }, hold, t("doc.hold")), wrong,
  h("div", { class: "row" }, h("button", { class: "first" }, t("save")), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
  const dialog = openDialog(t("doc.edit"), form);
}
