// What another tab or person changed while something was edited here.

import { APIError } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/** Reports whether a change was refused because of another one. @param {unknown} failure */
export function wasChanged(failure) {
  return failure instanceof APIError && failure.code === "conflict";
}

/**
 * Returns the settings of a project, its webhooks by their addresses.
 * @param {any} project (schema ProjectView)
 */
export function settingsOf({ name, ai, tools, limits, privacy, retention, pipeline, webhooks = [] }) {
  return { name, ai, tools, limits, privacy, retention, pipeline, webhooks: Object.fromEntries(webhooks.map((/** @type {any} */ one) => [one.url, { types: one.types, enabled: one.enabled }])) };
}

/**
 * Returns what differs between two values of the API, by paths such as ai.model.
 * @param {any} before
 * @param {any} after
 * @param {string} [path]
 * @returns {{path: string, before: any, after: any}[]}
 */
export function differences(before, after, path = "") {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if ([before, after].some((one) => typeof one !== "object" || one === null || Array.isArray(one))) return [{ path, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => differences(before[key], after[key], path ? `${path}.${key}` : key));
}

/**
 * Returns a notice of what was changed meanwhile.
 * @param {{path: string, before: any, after: any}[]} changes
 * @param {string} hint what the person can do now
 */
export function changedNotice(changes, hint) {
  return h("div", { class: "notice", role: "alert" }, h("p", {}, t("changed.title")),
    h("ul", {}, ...changes.map(({ path, before, after }) => h("li", {}, h("code", {}, path), ": ", h("del", {}, shown(before)), " ", h("ins", {}, shown(after))))), h("p", {}, hint));
}

/** @param {any} value */
function shown(value) {
  return value === undefined || value === null || value === "" ? t("form.default") : typeof value === "string" ? value : JSON.stringify(value);
}
