// What the pages of people and rights have in common: their tabs, and fields of their forms.

import { allowedPages } from "./access_pages.js";
import { signedIn } from "./api.js";
import { h } from "./dom.js";
import { inLanguage, t as common } from "./language.js";
import { governance as words } from "./words/governance.js";

/** @typedef {(typeof import("./access_pages.js").accessPages)[number][0]} Name */

/** Returns the words of a key of the pages of people and rights. @type {(key: keyof typeof words, values?: Record<string, string | number>) => string} */
export const t = (key, values) => inLanguage(words[key], values);

/**
 * Returns a page with the tabs of all of them.
 * @param {Name} name
 * @param {import("./dom.js").Child[]} actions that stand beside its title
 * @param {...import("./dom.js").Child} content
 */
export function accessPage(name, actions, ...content) {
  return h("div", { class: "padded documents rights" }, h("h1", {}, common("access")), accessTabs(name),
    h("div", { class: "row" }, h("h2", {}, t(`access.${name}`)), h("span", { class: "space" }), ...actions), ...content);
}

/** @param {Name} name of the page that is open */
export function accessTabs(name) {
  return h("nav", { class: "parts", "aria-label": common("access") },
    ...allowedPages().map((one) => h("a", { href: "/" + one, "aria-current": one === name && "page" }, t(`access.${one}`))));
}

/**
 * Returns a choice of the level up to which somebody reaches documents. Levels above one's own
 * cannot be given.
 * @param {string | null} chosen
 */
export function clearanceChoice(chosen) {
  const { levels, clearance } = signedIn();
  const own = levels.indexOf(clearance);
  return h("select", { name: "clearance" }, h("option", { value: "" }, t("level.given.none")),
    ...levels.map((one, i) => h("option", { value: one, selected: one === chosen, disabled: i > own && one !== chosen }, i > own ? t("level.above", { level: one }) : one)));
}

/**
 * Returns a field of when something ends; empty = never.
 * @param {string | null} [at] a time of the API
 */
export function endField(at) {
  const given = at ? new Date(at) : null;
  const local = given && new Date(given.getTime() - given.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  const input = h("input", { type: "datetime-local", name: "ends", step: 1, value: local });
  return { element: h("label", {}, t("ends"), input), value: () => (input.value ? new Date(input.value).toISOString() : undefined) };
}

/**
 * Returns a dialog's buttons: one that sends its form, and one that closes it.
 * @param {string} label
 * @param {() => void} close
 */
export function dialogButtons(label, close) {
  return h("div", { class: "row" }, h("button", { class: "first" }, label), h("button", { type: "button", onclick: close }, common("cancel")));
}

/** Says when something ends or has ended. @param {string | null} at @param {(at: string) => string} moment */
export function endOf(at, moment) {
  if (!at) return h("span", { class: "quiet" }, t("ends.never"));
  return new Date(at) > new Date() ? moment(at) : h("span", { class: "state error" }, t("ended", { at: moment(at) }));
}
