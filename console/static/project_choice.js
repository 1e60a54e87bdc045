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

/** @typedef {{id: string, name: string}} Project (schema ProjectView) */

/** @param {Project} project */
const optionOf = ({ id, name }) => h("option", { value: id }, name);

/**
 * Returns a select of the projects of the workspace; "" = all of them. If there are many, a
 * field behind it finds the others.
 * @param {string} chosen the id of the project that is selected
 * @param {(project: string) => void} changed
 * @param {boolean} [keep] whether a project stays chosen that is not there any more
 */
export function projectChoice(chosen, changed, keep = false) {
  const select = h("select", { name: "project", "aria-label": t("ask.project"), onchange: () => changed(select.value) }, h("option", { value: "" }, t("ask.every")));
  const named = chosen ? h("option", { value: chosen, selected: true }, chosen) : null;
  if (named) select.append(named);
  const offer = (/** @type {Project[]} */ found) => {
    const kept = select.value;
    for (const one of [...select.options].filter(({ value }) => value && value !== kept)) one.remove();
    select.append(...found.filter(({ id }) => id !== kept).map(optionOf));
  };
  void list({}).then(async ({ data, next_cursor: more }) => {
    offer(data);
    if (more) select.after((await import("./project_find.js")).projectFind(list, offer));
    if (!named) return;
    const found = data.find(({ id }) => id === chosen) ?? await call("get-project", { path: { id: chosen } }).catch((failure) => failure.status === 404 && !keep && named.remove());
    if (found) named.textContent = found.name;
  }, () => {}); // without the list, the chosen one and all of them can be chosen
  return select;
}

/** @param {import("./api.js").Query} query @returns {Promise<{data: Project[], next_cursor: string | null}>} */
function list(query) {
  return call("list-projects", { query: { limit: 100, ...query } });
}
