// A form that is made from the schemas of openapi.json.

import { call } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/**
 * A schema of openapi.json, as far as forms need it.
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string | string[]} [type]
 * @property {string} [description]
 * @property {(string | null)[]} [enum]
 * @property {Record<string, Schema>} [properties]
 * @property {Schema} [items]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 */

/**
 * @typedef {object} Field
 * @property {string} path such as ai.retrieval.strategy
 * @property {HTMLElement} element
 * @property {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} control
 * @property {HTMLElement} wrong says why its value was refused
 * @property {() => boolean} changed
 * @property {() => any} read its value; null = the default
 */

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
 * @param {Record<string, Schema>} all
 * @param {string} name of the schema
 * @param {any} saved the value that it shows
 * @param {string[]} first the paths of the fields that are shown in the open, in this order
 * @param {string[]} parts the properties of the schema of which it shows the others, folded
 */
export function schemaForm(all, name, saved, first, parts) {
  /** @type {Map<string, Field>} */
  const fields = new Map();
  const walk = (/** @type {Schema} */ schema, /** @type {any} */ value, /** @type {string} */ path, /** @type {HTMLElement} */ into) => {
    for (const [key, given] of Object.entries(schema.properties ?? {})) {
      const at = path ? `${path}.${key}` : key;
      const here = resolve(all, given);
      if (here.properties) {
        const group = h("fieldset", {}, h("legend", {}, at), here.description && h("p", { class: "quiet" }, here.description));
        walk(here, value?.[key], at, group);
        if (group.querySelector(".field")) into.append(group);
      } else if (first.includes(at) || parts.includes(at.split(".")[0])) {
        const field = fieldOf(here, at, value?.[key]);
        fields.set(at, field);
        if (!first.includes(at)) into.append(field.element);
      }
    }
  };
  const folded = h("details", { class: "advanced" }, h("summary", {}, t("form.more")));
  walk(all[name], saved, "", folded);
  const element = h("div", { class: "fields" }, ...first.map((path) => fields.get(path)?.element), parts.length > 0 && folded);
  return { element, change: () => changeOf([...fields.values()]), refuse: (/** @type {{location: string, message: string}[]} */ wrong) => refuse(fields, wrong) };
}

/**
 * @param {Record<string, Schema>} all
 * @param {Schema} schema
 * @returns {Schema}
 */
function resolve(all, { $ref = "", ...own }) {
  return { ...all[$ref.split("/").at(-1) ?? ""], ...own };
}

/**
 * Returns the field of a value.
 * @param {Schema} schema
 * @param {string} path
 * @param {any} value
 * @returns {Field}
 */
function fieldOf(schema, path, value) {
  const id = "field-" + path;
  const kind = kindOf(schema, value);
  const byDefault = /Default: (.+?)(?=\. |$)/.exec(schema.description ?? "")?.[1] ?? "";
  const control = controlOf(kind, schema, byDefault);
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-help ${id}-wrong`);
  control.value = kind.write(value);
  const initial = control.value;
  const wrong = h("p", { id: `${id}-wrong`, class: "wrong", role: "alert" });
  return {
    path, control, wrong,
    element: h("div", { class: "field" }, h("label", { for: id }, path.split(".").at(-1)), control, h("p", { id: `${id}-help`, class: "quiet" }, schema.description), wrong),
    changed: () => control.value !== initial || control.validity.badInput,
    read: () => {
      if (control.validity.badInput) throw new Error(control.validationMessage);
      const read = control.value === "" ? null : kind.read(control.value);
      return kind.json ? difference(value, read) : read;
    },
  };
}

/** @typedef {{write: (value: any) => string, read: (text: string) => any, long?: boolean, json?: boolean}} Kind */

/** Returns how a value is written in its field. @param {Schema} schema @param {any} value @returns {Kind} */
function kindOf(schema, value) {
  const types = [schema.type ?? []].flat();
  const plain = (/** @type {any} */ one) => String(one ?? "");
  if (types.includes("boolean")) return { write: plain, read: (text) => text === "true" };
  if (types.includes("integer") || types.includes("number")) return { write: plain, read: Number };
  if (types.includes("string")) return { write: plain, read: (text) => text, long: (schema.maxLength ?? 0) > 1000 };
  const lines = schema.items?.type === "string" && !(value ?? []).some((/** @type {string} */ one) => one.includes("\n"));
  if (lines) return { write: (list) => (list ?? []).join("\n"), read: (text) => text.split("\n").filter(Boolean), long: true };
  return { write: (any) => any === undefined || any === null ? "" : JSON.stringify(any, null, 2), read: JSON.parse, long: true, json: true };
}

/**
 * @param {Kind} kind
 * @param {Schema} schema
 * @param {string} byDefault
 */
function controlOf(kind, schema, byDefault) {
  const types = [schema.type ?? []].flat();
  const options = types.includes("boolean") ? ["true", "false"] : schema.enum?.filter((one) => one !== null);
  if (options) {
    return h("select", {}, h("option", { value: "" }, byDefault ? t("form.default", { value: byDefault }) : t("form.unset")),
      ...options.map((one) => h("option", { value: one }, one === "true" ? t("form.on") : one === "false" ? t("form.off") : one)));
  }
  if (kind.long) return h("textarea", { rows: kind.json ? 6 : 3, spellcheck: "false", class: kind.json && "code", placeholder: byDefault });
  if (types.includes("string")) return h("input", { maxlength: schema.maxLength, placeholder: byDefault });
  return h("input", { type: "number", min: schema.minimum, max: schema.maximum, step: types.includes("integer") ? 1 : "any", placeholder: byDefault });
}

/**
 * Returns the changed fields as a merge patch; null if a field cannot be read.
 * @param {Field[]} fields
 * @returns {any}
 */
function changeOf(fields) {
  /** @type {any} */
  const change = {};
  let readable = true;
  for (const field of fields) {
    mark(field, "");
    if (!field.changed()) continue;
    const keys = field.path.split(".");
    const last = /** @type {string} */ (keys.pop());
    try {
      const value = field.read();
      keys.reduce((into, key) => (into[key] ??= {}), change)[last] = value;
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
 * Shows what the API says of fields.
 * @param {Map<string, Field>} fields
 * @param {{location: string, message: string}[]} wrong
 * @returns {boolean} whether each of them is a field of the form
 */
function refuse(fields, wrong) {
  let all = wrong.length > 0;
  for (const { location, message } of wrong) {
    const path = location.replace(/^body\.(projectConfigOverride\.)?/, "");
    const field = [...fields.values()].find((one) => path === one.path || path.startsWith(one.path + ".") || path.startsWith(one.path + "["));
    if (field) mark(field, path === field.path ? message : `${path}: ${message}`);
    all &&= field !== undefined;
  }
  return all;
}

/**
 * Returns the merge patch (RFC 7386) that makes one value of another.
 * @param {any} before
 * @param {any} after
 * @returns {any}
 */
function difference(before, after) {
  const isObject = (/** @type {any} */ one) => typeof one === "object" && one !== null && !Array.isArray(one);
  if (!isObject(before) || !isObject(after)) return after ?? null;
  /** @type {any} */
  const change = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) change[key] = difference(before[key], after[key]);
  }
  return change;
}
