// Forms that do something, and what is shown to a person only once.

import { attempt } from "./action.js";
import { announce, h } from "./dom.js";
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

/**
 * Returns a group of checkboxes, and a function that returns the chosen ones.
 * @template {string} T
 * @param {string} name
 * @param {readonly T[]} all
 * @param {readonly T[]} chosen at first
 */
export function choices(name, all, chosen) {
  const boxes = all.map((one) => h("input", { type: "checkbox", value: one, checked: chosen.includes(one) }));
  const element = h("fieldset", { class: "row" }, h("legend", {}, name), ...boxes.map((box) => h("label", { class: "choice" }, box, box.value)));
  return { element, chosen: () => boxes.filter((box) => box.checked).map((box) => box.value) };
}

/** Returns a button that copies a text. @param {string} text @param {string} [of] names it for screen readers */
export function copyButton(text, of = "") {
  return h("button", { type: "button", "aria-label": `${t("copy")} ${of}`.trim(), onclick: async () => {
    await navigator.clipboard.writeText(text);
    announce(t("copied"));
  } }, t("copy"));
}

/**
 * Shows what the API answers only once.
 * @param {[name: string, value: string | undefined][]} values those without a value are left out
 */
export function showOnce(values) {
  const given = values.filter(([, value]) => value);
  if (!given.length) return;
  const dialog = h("dialog", { "aria-label": t("once"), onclose: () => dialog.remove() }, h("h2", {}, t("once")), h("p", {}, t("once.hint")),
    ...given.flatMap(([name, value]) => [h("p", { class: "quiet" }, name), h("p", { class: "row" }, h("code", { class: "once" }, value), copyButton(value ?? "", name))]),
    h("form", { method: "dialog" }, h("button", { class: "first" }, t("close"))));
  document.body.append(dialog);
  dialog.showModal();
}
