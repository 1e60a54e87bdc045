// The choice of a project.

import { call } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/**
 * Returns a select of the projects of the workspace; "" = all of them.
 * @param {string} chosen the id of the project that is selected
 * @param {(project: string) => void} changed
 */
export function projectChoice(chosen, changed) {
  const select = h("select", { name: "project", "aria-label": t("ask.project"), onchange: () => changed(select.value) }, h("option", { value: "" }, t("ask.every")));
  void call("list-projects", { query: { limit: 100 } }).then((found) => {
    for (const one of found.data) select.append(h("option", { value: one.id, selected: chosen === one.id }, one.name));
  }, () => {}); // the choice stays at all projects
  return select;
}
