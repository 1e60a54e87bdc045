// What the pages of imports and of syncs share: their words, and the links between them.

import { h } from "./dom.js";
import { inLanguage, t } from "./language.js";
import { imports } from "./words/imports.js";
import { syncs } from "./words/syncs.js";

const words = { ...imports, ...syncs };

/** @typedef {keyof typeof words} Word */

/** Returns the words of a key of these pages. @param {Word} key @param {Record<string, string | number>} [values] */
export function say(key, values) {
  return inLanguage(words[key], values);
}

/** Returns the links to imports and syncs. @param {"imports" | "syncs"} current */
export function partsOf(current) {
  const link = (/** @type {string} */ part, /** @type {string} */ title) => h("a", { href: "/" + part, "aria-current": part === current && "page" }, title);
  return h("nav", { class: "parts", "aria-label": t("imports") }, link("imports", t("imports")), link("syncs", say("syncs")));
}

/** Returns a field below its label. @param {string} label @param {HTMLElement} control @param {string} [help] below it */
export function labelled(label, control, help) {
  return h("label", {}, label, control, help && h("small", { class: "quiet" }, help));
}

/** Returns the lines of a field that are not empty. @param {HTMLTextAreaElement} area */
export function linesOf(area) {
  return area.value.split("\n").map((line) => line.trim()).filter(Boolean);
}
