// What can be changed of a document: tags, metadata, and who sees it.

import { accessFields, metadataField, namesIn } from "./access_fields.js";
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
  const tags = h("input", { value: (doc.tags ?? []).join(", ") });
  const metadata = metadataField(doc.metadata ?? {});
  const access = accessFields(doc.access);
  const classification = h("input", { value: doc.classification ?? "", maxlength: 128 });
  const active = h("input", { type: "checkbox", checked: doc.status !== "inactive" });
  const hold = h("input", { type: "checkbox", checked: doc.legalHold });
  const save = async () => {
    const parsed = metadata.value();
    const removed = Object.keys(doc.metadata ?? {}).filter((key) => !(key in parsed)).map((key) => [key, null]);
    /** @type {Record<string, any>} */
    const body = {
      tags: namesIn(tags), access: access.value(), legal_hold: hold.checked,
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
  } }, h("h2", {}, t("doc.edit")), h("label", {}, t("doc.tags.list"), tags), metadata.element, h("label", {}, t("doc.classification"), classification),
  access.element,
  h("label", { class: "choice" }, active, t("doc.active")), h("label", { class: "choice" }, hold, t("doc.hold")),
  h("div", { class: "row" }, h("button", { class: "first" }, t("save")), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
  const dialog = openDialog(t("doc.edit"), form);
}
