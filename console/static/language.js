// The words of the console, in the language of its reader.

import { words } from "./words/table.js";
import { preference, setPreference } from "./preferences.js";

/** @typedef {keyof typeof words} Word */

/** The languages, in the order of the entries of the table. */
export const languages = /** @type {const} */ (["en", "de"]);

/** @returns {"en" | "de"} */
export function language() {
  const chosen = preference("language") || navigator.language.slice(0, 2);
  return chosen === "de" ? "de" : "en";
}

/** @param {"en" | "de"} chosen */
export function setLanguage(chosen) {
  setPreference("language", chosen);
  location.reload();
}

/**
 * Returns the words of a key; {name} in them stands for a value.
 * @param {Word} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  return inLanguage(words[key], values);
}

/**
 * Returns an entry of a table of words that only some pages load.
 * @param {[string, string]} entry
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function inLanguage(entry, values = {}) {
  return entry[languages.indexOf(language())].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** @type {Map<string, Intl.DisplayNames>} */
const namesIn = new Map(); // by the language that they are in

/** Returns the name of the language of a text. @param {string} code of ISO 639-3; und = not known */
export function languageName(code) {
  if (code === "und") return t("language.unknown");
  const names = namesIn.get(language()) ?? new Intl.DisplayNames(language(), { type: "language" });
  namesIn.set(language(), names);
  return code && (names.of(code) ?? code);
}

/** Returns a text with a capital first letter. @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * @param {number} value
 * @param {Intl.NumberFormatOptions} [options]
 */
export function number(value, options) {
  return new Intl.NumberFormat(language(), options).format(value);
}

/** Returns a cost, with more digits if it is a small one. @param {number} value @param {string} currency */
export function money(value, currency) {
  return number(value, { style: "currency", currency, maximumFractionDigits: value > 0 && value < 0.01 ? 6 : 2 });
}

/**
 * @param {string | null | undefined} at a time of the API
 * @returns {string} "" without one
 */
export function moment(at) {
  if (!at) return "";
  return new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

/**
 * @param {number} count of bytes
 * @returns {string}
 */
export function bytes(count) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  let unit = 0;
  while (count >= 1000 && unit < units.length - 1) {
    count /= 1000;
    unit++;
  }
  return number(count, { style: "unit", unit: units[unit], unitDisplay: "short", maximumFractionDigits: unit > 1 ? 1 : 0 });
}

/**
 * @param {number} count of seconds
 * @returns {string} such as 4:05 or 1:02:03
 */
export function clock(count) {
  const whole = Math.floor(count);
  const part = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = part[0] > 0 ? part : part.slice(1);
  return shown.map((value, i) => (i === 0 ? String(value) : String(value).padStart(2, "0"))).join(":");
}

/**
 * @param {number} count of seconds
 * @returns {string} such as 0.3s, or 4:05 for a minute and more
 */
export function duration(count) {
  if (count >= 60) return clock(count);
  return number(count, { style: "unit", unit: "second", unitDisplay: "narrow", maximumFractionDigits: count < 1 ? 2 : count < 10 ? 1 : 0 });
}
