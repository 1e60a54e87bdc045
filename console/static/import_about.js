// What an import says of its documents: metadata, rules by pattern, and who sees them.

import { accessFields, metadataField, namesIn } from "./access_fields.js";
import { classificationChoice } from "./classification.js";
import { h } from "./dom.js";
import { say } from "./imports_frame.js";
import { t } from "./language.js";

/** Returns these fields, folded, and the function that reads them as fields of the request. */
export function aboutDocuments() {
  const metadata = metadataField({});
  const classification = classificationChoice("", t("doc.classification.keep"));
  const limited = h("input", { type: "checkbox", name: "limited", onchange: () => (access.element.hidden = !limited.checked) });
  const access = accessFields({ workspace: true });
  access.element.hidden = true; // without it new documents are for the whole workspace
  /** @type {Set<() => any>} */
  const rules = new Set();
  const list = h("div");
  const add = h("button", { type: "button", onclick: () => list.append(rule(rules)) }, say("imp.rule.add"));
  const body = () => ({
    metadata: metadata.value(), classification: classification.value || undefined, access: limited.checked ? access.value() : undefined, rules: [...rules].map((read) => read()),
  });
  const element = h("details", {}, h("summary", {}, say("imp.about")), h("div", { class: "columns" }, metadata.element, h("label", {}, t("doc.classification"), classification)),
    h("label", { class: "choice" }, limited, say("imp.limited")), access.element, list, h("div", { class: "row" }, add), h("p", { class: "quiet" }, say("imp.rule.hint")));
  element.addEventListener("invalid", () => (element.open = true), true); // it does not bubble
  return { element, body };
}

/** Returns the fields of one more rule. @param {Set<() => any>} rules */
function rule(rules) {
  const match = h("input", { name: "match", required: true, placeholder: "legal/**" });
  const tags = h("input", { name: "rule_tags" });
  const metadata = metadataField({});
  const read = () => ({ match: match.value.trim(), tags: namesIn(tags), metadata: metadata.value() });
  rules.add(read);
  const element = h("fieldset", { class: "columns" }, h("legend", {}, say("imp.rule")), h("label", {}, say("imp.rule.match"), match), h("label", {}, t("doc.tags.list"), tags), metadata.element,
    h("button", { type: "button", onclick: () => {
      rules.delete(read);
      element.remove();
    } }, t("doc.remove")));
  return element;
}
