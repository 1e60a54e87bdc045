// The pages of projects: all of them, and one in its sections.

import { actionForm, showOnce } from "../action_form.js";
import { call } from "../api.js";
import { h } from "../dom.js";
import { moment, t } from "../language.js";
import { pagedTable } from "../paged_table.js";
import { navigate } from "../router.js";

/** @typedef {import("../router.js").Page} Page */
/** @typedef {{element: HTMLElement, stop?: () => void}} Section */

/** The sections of a project by the last part of their address; the first one has none. */
const sections = /** @type {const} */ ({
  "": async () => (await import("../project_settings.js")).settings,
  "keys": async () => {
    const { keys } = await import("../keys.js");
    return (/** @type {any} */ project) => keys(project.id);
  },
});

/** @type {import("../router.js").Open} */
export function open([id, section = ""]) {
  return id ? openProject(id, section) : openProjects();
}

/** @returns {Page} */
function openProjects() {
  const name = h("input", { required: true, maxlength: 200, "aria-label": t("project.name"), placeholder: t("project.name") });
  const table = pagedTable({
    name: t("projects"), columns: [{ title: t("project.name") }, { title: t("project.id") }, { title: t("doc.changed") }],
    load: (cursor) => call("list-projects", { query: { limit: 100, cursor } }),
    key: (/** @type {any} */ project) => project.id,
    cells: (project) => [h("a", { href: addressOf(project.id, ""), "data-item": "" }, project.name), h("code", {}, project.id), moment(project.updatedAt)],
    none: () => t("project.none"),
  });
  const form = actionForm(t("project.new"), async () => {
    const made = await call("save-project", { body: { name: name.value } });
    navigate(addressOf(made.id, ""));
    showOnce([[t("project.key"), made.apiKey], [t("project.callback"), made.callbackSecret]]);
  }, name);
  const element = h("div", { class: "padded documents" }, h("div", { class: "row" }, h("h1", {}, t("projects")), h("span", { class: "space" }), h("a", { class: "button", href: "/keys" }, t("keys")), form), table.element);
  return { title: t("projects"), element, stop: table.stop };
}

/** @param {string} id @param {string} section */
function addressOf(id, section) {
  return `/projects/${encodeURIComponent(id)}${section && "/" + section}`;
}

/**
 * @param {string} id
 * @param {string} section
 * @returns {Promise<Page>}
 */
async function openProject(id, section) {
  const chosen = /** @type {keyof typeof sections} */ (section in sections ? section : "");
  const [project, show] = await Promise.all([call("get-project", { path: { id } }), sections[chosen]()]);
  /** @type {Section} */
  const { element, stop } = await show(project);
  const words = /** @type {(keyof typeof sections)[]} */ (Object.keys(sections));
  return {
    title: project.name, stop,
    element: h("div", { class: "padded document" }, h("p", {}, h("a", { href: "/projects" }, "‹ ", t("project.all"))), h("h1", {}, project.name),
      h("nav", { class: "parts", "aria-label": t("project.parts") }, ...words.map((one) => h("a", { href: addressOf(id, one), "aria-current": one === chosen && "page" }, t(`project.${one || "settings"}`)))),
      h("section", { "aria-label": t(`project.${chosen || "settings"}`) }, element)),
  };
}
