// The settings that an experiment tries, each with its values.

import { fill, h } from "./dom.js";
import { labelled, say } from "./evaluation_parts.js";
import { language, number } from "./language.js";
import { settings as words } from "./words/settings.js";

/** @typedef {Record<string, any>} Schema */

/** The settings that are offered. */
const offered = ["ai.retrieval.strategy", "ai.retrieval.numberOfChunks", "ai.retrieval.preset", "ai.retrieval.reranker", "ai.model", "ai.temperature", "ai.prompt"];

const mostCells = 32; // with the saved settings

/** Returns the schema of a setting. @param {Record<string, Schema>} all @param {string} path */
function schemaOf(all, path) {
  return path.split(".").reduce((/** @type {Schema} */ schema, name) => {
    const given = schema.properties[name];
    return { ...all[given.$ref?.split("/").at(-1)], ...given };
  }, all.ProjectConfig);
}

/** Returns the field of the values of a setting. @param {Schema} schema @param {string} path @param {() => void} changed */
function valuesField(schema, path, changed) {
  const german = language() === "de" ? words[path]?.[0] : undefined;
  const name = path.split(".").at(-1) ?? "";
  const title = german ? `${german} (${name})` : name;
  if (schema.enum) {
    const boxes = schema.enum.filter(Boolean).map((/** @type {string} */ one) => h("input", { type: "checkbox", value: one, onchange: changed }));
    const element = h("fieldset", {}, h("legend", {}, title), h("div", { class: "row" }, ...boxes.map((/** @type {HTMLInputElement} */ box) => h("label", { class: "choice" }, box, box.value))));
    return { path, element, read: () => boxes.filter((/** @type {HTMLInputElement} */ box) => box.checked).map((/** @type {HTMLInputElement} */ box) => box.value) };
  }
  const text = schema.maxLength > 1000;
  const numeric = [schema.type].flat().some((type) => type === "integer" || type === "number");
  const area = h("textarea", { rows: text ? 4 : 2, oninput: changed });
  const read = () => area.value.split(text ? /^---$/m : /[\n,]/).map((one) => one.trim()).filter(Boolean).map((one) => (numeric ? Number(one.replace(",", ".")) : one));
  return { path, element: labelled(title, area, say(text ? "grid.texts" : "grid.values")), read };
}

/** Returns the fields of a grid. @param {Record<string, Schema>} all the schemas of the API */
export function gridFields(all) {
  const status = h("p", { role: "status", class: "quiet" });
  const count = () => {
    const tried = fields.map((one) => one.read().length).filter(Boolean);
    const cells = tried.length ? 1 + tried.reduce((product, some) => product * some, 1) : 0;
    fill(status, cells > mostCells ? h("span", { class: "wrong" }, say("grid.most", { n: number(mostCells) })) : cells ? say("grid.count", { n: number(cells) }) : say("grid.none"));
    return cells > 1 && cells <= mostCells;
  };
  const fields = offered.map((path) => valuesField(schemaOf(all, path), path, count));
  count();
  return {
    element: h("div", { class: "import grid" }, ...fields.map((one) => one.element), status),
    /** Returns the grid of a request; null if there is none to try. */
    read: () => (count() ? Object.fromEntries(fields.map((one) => [one.path, one.read()]).filter(([, values]) => values.length)) : null),
  };
}
