// A document from an address, or from a text that is typed.

import { attempt } from "./action.js";
import { call, newKey } from "./api.js";
import { classificationChoice } from "./classification.js";
import { h, openDialog } from "./dom.js";
import { t } from "./language.js";

/**
 * Asks for an address or a text, and makes a document of it.
 * @param {string} project its id; "" = the default one
 * @param {() => void} added
 */
export function addText(project, added) {
  const key = newKey();
  const name = h("input", { maxlength: 512 });
  const url = h("input", { type: "url", placeholder: "https://" });
  const text = h("textarea", { rows: 8 });
  const classification = classificationChoice("", t("doc.classification.keep"));
  const form = h("form", { class: "stacked", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    const content = url.value.trim() ? { url: url.value.trim() } : { text: text.value };
    const done = await attempt(() => call("add-document", { query: { projectId: project || "default" }, body: { name: name.value || undefined, classification: classification.value || undefined, content }, key }));
    if (!done) return;
    dialog.close();
    added();
  } }, h("h2", {}, t("doc.add")), h("label", {}, t("doc.add.name"), name), h("label", {}, t("doc.add.url"), url), h("label", {}, t("doc.add.text"), text), h("label", {}, t("doc.classification"), classification),
  h("div", { class: "row" }, h("button", { class: "first" }, t("doc.add.button")), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
  const dialog = openDialog(t("doc.add"), form);
}
