// The pages of projects: all of them, and one in its sections.

import { actionForm, field, showOnce } from "../action_form.js";
import { call } from "../api.js";
import { h } from "../dom.js";
import { keys } from "../keys.js";
import { moment, t } from "../language.js";
import { pagedTable } from "../paged_table.js";
import { code, danger } from "../project_code.js";
import { secrets } from "../project_secrets.js";
import { settings } from "../project_settings.js";
import { webhooks } from "../project_webhooks.js";
import { navigate } from "../router.js";
import { tryOut } from "../try_out.js";

/** The sections of a project by the last part of their address. */
const sections = { settings, privacy: async (/** @type {any} */ project) => (await import("../project_privacy.js")).privacy(project), try: tryOut, publication: async (/** @type {any} */ project) => (await import("../project_publication.js")).publication(project), webhooks, pipeline: async (/** @type {any} */ project) => (await import("../project_pipeline.js")).pipeline(project), secrets, keys: (/** @type {any} */ project) => keys(project.id), code, danger };

/** @param {string} id @param {string} [section] */
const addressOf = (id, section) => `/projects/${encodeURIComponent(id)}${section ? "/" + section : ""}`;

/** @type {import("../router.js").Open} */
export function open([id, section]) {
  return id ? openProject(id, section) : openProjects();
}

function openProjects() {
  const table = pagedTable({
    name: t("projects"), columns: [t("doc.name"), "Id", t("doc.changed")].map((title) => ({ title })),
    load: (cursor) => call("list-projects", { query: { limit: 100, cursor } }),
    key: (/** @type {any} a ProjectView */ project) => project.id,
    cells: (project) => [h("a", { href: addressOf(project.id), "data-item": "" }, project.name), h("code", {}, project.id), moment(project.updatedAt)],
    none: () => t("project.none"),
  });
  const name = field(t("doc.name"), { maxlength: 200 });
  const form = actionForm(t("project.new"), async () => {
    const made = await call("save-project", { body: { name: name.value } });
    navigate(addressOf(made.id));
    showOnce([[t("signin.key"), made.apiKey], ["callbackSecret", made.callbackSecret]]);
  }, name);
  const element = h("div", { class: "padded documents" }, h("div", { class: "row" }, h("h1", {}, t("projects")), h("span", { class: "space" }), h("a", { class: "button", href: "/keys" }, t("keys")), form), table.element);
  void import("../project_publication.js").then(({ gallery }) => element.append(gallery()));
  return { title: t("projects"), element, stop: table.stop };
}

/** @param {string} id @param {string} section */
async function openProject(id, section) {
  const names = /** @type {(keyof typeof sections)[]} */ (Object.keys(sections));
  const chosen = names.find((one) => one === section) ?? "settings";
  const project = await call("get-project", { path: { id } });
  /** @type {{element: HTMLElement, stop?: () => void}} */
  const { element, stop } = await sections[chosen](project);
  return {
    title: project.name, stop,
    element: h("div", { class: "padded document" }, h("p", {}, h("a", { href: "/projects" }, "‹ ", t("projects"))), h("h1", {}, project.name),
      h("nav", { class: "parts", "aria-label": project.name }, ...names.map((one) => h("a", { href: addressOf(id, one), "aria-current": one === chosen && "page" }, t(`project.${one}`)))), element),
  };
}
