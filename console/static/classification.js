// The choice of how confidential a document is.

import { signedIn } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns a choice of the levels of classification. Somebody may classify above his own clearance,
 * and is told what that means.
 * @param {string} chosen
 * @param {string} none the words of the choice of none
 * @param {Record<string, any>} [properties]
 */
export function classificationChoice(chosen, none, properties = {}) {
  const { levels, clearance } = signedIn();
  const own = levels.indexOf(clearance);
  const all = !chosen || levels.includes(chosen) ? levels : [chosen, ...levels]; // it was written before levels were checked
  return h("select", { name: "classification", ...properties }, h("option", { value: "" }, none),
    ...all.map((one) => h("option", { value: one, selected: one === chosen }, levels.indexOf(one) > own ? t("doc.classification.above", { level: one }) : one)));
}

/** Says how a document is classified. @param {string | undefined} classification */
export function classified(classification) {
  return classification || t("doc.classification.unset", { level: signedIn().baseLevel });
}
