// What a person does: it says when it failed, and asks before it cannot be undone.

import { reasonOf } from "./api.js";
import { h, openDialog } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns a button that does something once at a time, and shows why it failed.
 * @param {string} label
 * @param {() => Promise<any>} act
 * @param {Record<string, any>} [properties]
 */
export function actionButton(label, act, properties = {}) {
  const button = h("button", { type: "button", ...properties, onclick: async () => {
    button.disabled = true;
    await attempt(act);
    button.disabled = false;
  } }, label);
  return button;
}

/**
 * Does something, and shows why it failed.
 * @param {() => Promise<any>} act
 * @returns {Promise<boolean>} whether it was done
 */
export async function attempt(act) {
  try {
    await act();
    document.querySelector(".failure")?.remove();
    return true;
  } catch (failure) {
    showFailure(reasonOf(failure));
    return false;
  }
}

/**
 * Shows a sentence over the page, until it is closed.
 * @param {string} sentence
 */
export function showFailure(sentence) {
  document.querySelector(".failure")?.remove();
  const shown = h("div", { class: "failure", role: "alert" }, h("p", {}, sentence), h("button", { type: "button", class: "plain", onclick: () => shown.remove() }, t("close")));
  document.body.append(shown);
}

/**
 * Asks before something that cannot be undone.
 * @param {object} question
 * @param {string} question.title
 * @param {string} question.hint what happens
 * @param {string} question.label of the button that does it
 * @param {string} [question.word] must be typed first
 * @param {() => Promise<any>} act
 */
export function confirm({ title, hint, label, word }, act) {
  const field = word === undefined ? null : h("input", { "aria-label": t("confirm.type", { word }), autocomplete: "off", oninput: () => (button.disabled = field?.value.trim() !== word) });
  const button = h("button", { class: "first", disabled: word !== undefined }, label);
  const form = h("form", { method: "dialog", onsubmit: () => void attempt(act) }, h("h2", {}, title), h("p", {}, hint), field,
    h("div", { class: "row" }, button, h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
  const dialog = openDialog(title, form);
}
