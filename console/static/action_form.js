// Forms that do something, and what is shown to a person only once.

import { attempt, confirm } from "./action.js";
import { announce, h, openDialog } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns a form that does something when it is sent, and is empty again once it was done.
 * @param {string} label of its button
 * @param {() => Promise<any>} act
 * @param {...import("./dom.js").Child} fields
 */
export function actionForm(label, act, ...fields) {
  const button = h("button", { class: "first" }, label);
  const form = h("form", { class: "row", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    button.disabled = true;
    if (await attempt(act)) form.reset();
    button.disabled = false;
  } }, ...fields, button);
  return form;
}

/** Returns a field that must be filled. @param {string} name @param {Record<string, any>} [properties] */
export function field(name, properties) {
  return h("input", { required: true, "aria-label": name, placeholder: name, ...properties });
}

/** Returns a group of checkboxes, the first of them checked. @param {string} name @param {string[]} all @param {number} checked */
export function choices(name, all, checked) {
  const boxes = all.map((one, i) => h("input", { type: "checkbox", value: one, checked: i < checked }));
  const element = h("fieldset", { class: "row" }, h("legend", {}, name), ...boxes.map((box) => h("label", { class: "choice" }, box, box.value)));
  return { element, chosen: () => boxes.filter((box) => box.checked).map((box) => box.value) };
}

/**
 * Returns a button that asks, and ends something.
 * @param {string} label
 * @param {string} name of the thing
 * @param {() => Promise<any>} act
 * @param {{hint?: string, word?: string}} [more] what happens, and what must be typed first
 */
export function removal(label, name, act, { hint = t("removal.hint"), word } = {}) {
  return h("button", { type: "button", "aria-label": `${label}: ${name}`, onclick: () => confirm({ title: `${label}: ${name}`, hint, label, word }, act) }, label);
}

/** @param {string} text @param {string} name */
export function copyButton(text, name) {
  return h("button", { type: "button", "aria-label": `${t("copy")}: ${name}`, onclick: async () => {
    await navigator.clipboard.writeText(text);
    announce(t("copied"));
  } }, t("copy"));
}

/** Shows what the API answers only once. @param {[name: string, value: string | undefined][]} values */
export function showOnce(values) {
  const given = values.flatMap(([name, value]) => value ? [h("p", { class: "quiet" }, name), h("p", { class: "row" }, h("code", { class: "once" }, value), copyButton(value, name))] : []);
  if (!given.length) return;
  openDialog(t("once"), h("h2", {}, t("once")), h("p", {}, t("once.hint")), ...given,
    h("form", { method: "dialog" }, h("button", { class: "first" }, t("close"))));
}
