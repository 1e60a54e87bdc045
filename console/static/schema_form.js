// A form that is made from the schemas of openapi.json.

import { call } from "./api.js";
import { h } from "./dom.js";
import { language, number, t } from "./language.js";
import { settings } from "./words/settings.js";

/** @typedef {Record<string, any>} Schema */
/** @typedef {ReturnType<typeof fieldOf>} Field */
/** @typedef {{location: string, message: string}[]} Wrong */

/** @type {{schemas: Promise<Record<string, Schema>> | null}} */
const description = { schemas: null };

/** Returns the schemas of the API, which are asked for once. */
export function schemas() {
  description.schemas ??= call("openapi").then((found) => found.components.schemas, (failure) => {
    description.schemas = null;
    throw failure;
  });
  return description.schemas;
}

/**
 * Returns a form without its buttons.
 * @param {Record<string, Schema>} all @param {string} name of the schema
 * @param {any} saved the value that it shows
 * @param {string[]} first the paths of the fields that are not folded
 * @param {string[]} parts the properties of which the other fields are shown too
 */
export function schemaForm(all, name, saved, first, parts, open = false) {
  /** @type {Map<string, Field>} */
  const fields = new Map();
  const walk = (/** @type {Schema} */ schema, /** @type {any} */ value, /** @type {string} */ path, /** @type {HTMLElement} */ into) => {
    for (const [key, given] of Object.entries(schema.properties)) {
      const at = path ? `${path}.${key}` : key;
      const here = /** @type {Schema} */ ({ ...all[given.$ref?.split("/").at(-1)], ...given });
      if (here.properties) {
        const { title, help } = wordsOf(at, at, here);
        const group = h("fieldset", {}, h("legend", {}, title), help && h("p", { class: "quiet" }, help));
        walk(here, value?.[key], at, group);
        if (group.querySelector(".field")) into.append(group);
      } else if (first.includes(at) || parts.includes(at.split(".")[0])) {
        const field = fieldOf(here, at, value?.[key]);
        fields.set(at, field);
        if (!first.includes(at)) into.append(field.element);
      }
    }
  };
  const folded = h("details", { open }, h("summary", {}, t("form.more")));
  walk(all[name], saved, "", folded);
  const element = h("div", { class: "fields" }, ...first.map((path) => fields.get(path)?.element), parts.length > 0 && folded);
  return { element, change: () => changeOf([...fields.values()]), refuse: (/** @type {Wrong} */ wrong) => refuse([...fields.values()], wrong) };
}

/**
 * Returns the title and the help of a setting, with its range. The name of the API stands in
 * the title.
 * @param {string} path @param {string} name @param {Schema} schema
 */
function wordsOf(path, name, { description, minimum, maximum }) {
  const german = language() === "de" ? settings[path] : undefined;
  const range = maximum !== undefined ? t("form.range", { min: number(minimum ?? 0), max: number(maximum) }) : minimum ? t("form.least", { min: number(minimum) }) : "";
  return { title: german ? [german[0], " ", h("code", {}, name)] : name, help: [german?.[1] ?? description, range].filter(Boolean).join(". ") };
}

/** Returns the field of a value. @param {Schema} schema @param {string} path @param {any} value */
function fieldOf(schema, path, value) {
  const id = "field-" + path;
  const { title, help } = wordsOf(path, path.split(".").at(-1) ?? "", schema);
  const { control, write, read, json } = controlOf(schema, value, /(?:Default|Vorgabe): (.+?)(?=\. |$)/.exec(help)?.[1]);
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-help ${id}-wrong`);
  control.value = value === undefined || value === null ? "" : write(value);
  const initial = control.value;
  const wrong = h("p", { id: `${id}-wrong`, class: "wrong", role: "alert" });
  return {
    path, control, wrong,
    element: h("div", { class: "field" }, h("label", { for: id }, title), control, h("p", { id: `${id}-help`, class: "quiet" }, help), wrong),
    changed: () => control.value !== initial || control.validity.badInput,
    /** Returns its value as part of a merge patch; null = the default. */
    read: () => {
      if (control.validity.badInput) throw new Error(control.validationMessage);
      const now = control.value === "" ? null : read(control.value);
      return json ? difference(value, now) : now;
    },
  };
}

/**
 * Returns the element of a field, and how a value is written in it and read from it.
 * @param {Schema} schema
 * @param {any} value
 * @param {string} [placeholder] the default
 * @returns {{control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, write: (value: any) => string, read: (text: string) => any, json?: boolean}}
 */
function controlOf(schema, value, placeholder) {
  const is = (/** @type {string} */ type) => [schema.type].flat().includes(type);
  const area = (/** @type {boolean} */ json) => h("textarea", { rows: json ? 6 : 3, class: json && "code", placeholder });
  if (is("boolean") || schema.enum) {
    const options = schema.enum?.filter(Boolean) ?? ["true", "false"];
    const words = /** @type {Record<string, string>} */ ({ true: t("form.on"), false: t("form.off") });
    const control = h("select", {}, h("option", { value: "" }, t("form.default"), placeholder && ": " + placeholder),
      ...options.map((/** @type {string} */ one) => h("option", { value: one }, words[one] ?? one)));
    return { control, write: String, read: (text) => (is("boolean") ? text === "true" : text) };
  }
  if (is("string")) return { control: schema.maxLength > 1000 ? area(false) : h("input", { maxlength: schema.maxLength, placeholder }), write: String, read: String };
  if (is("integer") || is("number")) return { control: h("input", { type: "number", min: schema.minimum, max: schema.maximum, step: is("integer") ? 1 : "any", placeholder }), write: String, read: Number };
  const lines = schema.items?.type === "string" && !value?.some((/** @type {string} */ one) => one.includes("\n"));
  if (lines) return { control: area(false), write: (list) => list.join("\n"), read: (text) => text.split("\n").filter(Boolean) };
  return { control: area(true), write: (any) => JSON.stringify(any, null, 2), read: JSON.parse, json: true };
}

/** Returns the changed fields as a merge patch; null if a field cannot be read. @param {Field[]} fields @returns {any} */
function changeOf(fields) {
  const change = {};
  let readable = true;
  for (const field of fields) {
    mark(field, "");
    if (!field.changed()) continue;
    const keys = field.path.split(".");
    const last = /** @type {string} */ (keys.pop());
    try {
      const value = field.read();
      keys.reduce((/** @type {any} */ into, key) => (into[key] ??= {}), change)[last] = value;
    } catch (failure) {
      mark(field, /** @type {Error} */ (failure).message);
      readable = false;
    }
  }
  return readable ? change : null;
}

/** Shows at a field why it was refused; "" = it was not. @param {Field} field @param {string} message */
function mark({ control, wrong }, message) {
  wrong.textContent = message;
  control.setAttribute("aria-invalid", String(message !== ""));
  if (!message) return;
  const folded = control.closest("details");
  if (folded) folded.open = true;
  control.focus();
}

/**
 * Shows what the API says of fields, and returns whether each of them is in the form.
 * @param {Field[]} fields @param {Wrong} wrong
 */
function refuse(fields, wrong) {
  let all = wrong.length > 0;
  for (const { location, message } of wrong) {
    const path = location.replace(/^body\.(projectConfigOverride\.)?/, "");
    const field = fields.find((one) => path === one.path || path.startsWith(one.path + ".") || path.startsWith(one.path + "["));
    if (field) mark(field, path === field.path ? message : `${path}: ${message}`);
    all &&= field !== undefined;
  }
  return all;
}

/** Returns the merge patch (RFC 7386) that makes one value of another. @param {any} before @param {any} after @returns {any} */
function difference(before, after) {
  if ([before, after].some((one) => typeof one !== "object" || one === null || Array.isArray(one))) return after ?? null;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries([...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key])).map((key) => [key, difference(before[key], after[key])]));
}
