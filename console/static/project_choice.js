// The choice of a project.

import { call } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns the names of the projects by their ids.
 * @returns {Promise<Map<string, string>>}
 */
export async function projectNames() {
  const found = await call("list-projects", { query: { limit: 100 } }).catch(() => ({ data: [] })); // an id is shown for a name then
  return new Map(found.data.map((/** @type {{id: string, name: string}} */ one) => [one.id, one.name]));
}

/** Returns the name of a project; null = all of them. @param {Map<string, string>} names @param {string | null} id */
export function projectName(names, id) {
  return id ? names.get(id) ?? id : t("ask.every");
}

/**
 * Returns a select of the projects of the workspace; "" = all of them.
 * @param {string} chosen the id of the project that is selected
 * @param {(project: string) => void} changed
 */
export function projectChoice(chosen, changed) {
  const select = h("select", { name: "project", "aria-label": t("ask.project"), onchange: () => changed(select.value) }, h("option", { value: "" }, t("ask.every")));
  void projectNames().then((names) => {
    for (const [id, name] of names) select.append(h("option", { value: id, selected: chosen === id }, name));
  });
  return select;
}
