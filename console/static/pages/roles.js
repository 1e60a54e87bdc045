// The roles of a workspace: what each of them may do, as a table of check boxes.

import { accessPage, dialogButtons, t } from "../access_frame.js";
import { actionButton, attempt } from "../action.js";
import { removal } from "../action_form.js";
import { call, may } from "../api.js";
import { fill, h, openDialog } from "../dom.js";

/** @typedef {{name: string, permissions: string[], built_in: boolean}} Role (schema RoleView) */
/** @typedef {{name: string, about: string, roles: string[]}} Permission (schema PermissionView) */

const instance = "instance.admin"; // of the instance's admin key alone

/** @type {import("../router.js").Open} */
export async function open() {
  const content = h("div");
  const state = h("p", { role: "status", class: "quiet" });
  /** @param {string} said */
  const draw = async (said) => {
    /** @type {[{data: Permission[]}, {data: Role[]}]} */
    const [permissions, roles] = await Promise.all([call("list-permissions"), call("list-roles")]);
    fill(content, matrix(permissions.data, roles.data, draw));
    state.textContent = said;
  };
  await draw("");
  const add = may("roles.write") && h("button", { type: "button", class: "first", onclick: () => void addRole((name) => void draw(t("role.saved", { name }))) }, t("role.new"));
  return { title: t("access.roles"), element: accessPage("roles", [add], h("p", { class: "quiet" }, t("role.hint")), state, content) };
}

/**
 * Returns the table: a row for each permission, and a column for each role.
 * @param {Permission[]} permissions
 * @param {Role[]} roles
 * @param {(said: string) => Promise<void>} draw shows the roles as they are now
 */
function matrix(permissions, roles, draw) {
  const columns = roles.map((role) => columnOf(role, permissions, draw));
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": t("access.roles") }, h("table", { class: "matrix", "aria-label": t("access.roles") },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("role.permission")), ...columns.map((one) => h("th", { scope: "col" }, one.title)))),
    h("tbody", {}, ...permissions.map((permission, i) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, permission.name), h("div", { class: "quiet" }, permission.about), lackOf(permission.name)),
      ...columns.map((one) => h("td", { "data-label": one.name }, one.boxes[i])))))));
}

/** Says why a permission cannot be given; false if it can. @param {string} name */
function lackOf(name) {
  if (name === instance) return h("div", { class: "lack" }, t("role.never"));
  return !may(name) && h("div", { class: "lack" }, t("role.lacks"));
}

/**
 * Returns the title of a role, with what changes it, and a check box for each permission. A
 * permission that the reader lacks can be taken from a role, and not be given.
 * @param {Role} role
 * @param {Permission[]} permissions
 * @param {(said: string) => Promise<void>} draw
 */
function columnOf({ name, permissions: has, built_in: fixed }, permissions, draw) {
  const changes = !fixed && may("roles.write");
  const boxes = permissions.map(({ name: permission }) => {
    const checked = has.includes(permission);
    const barred = !changes || permission === instance || !may(permission) && !checked;
    return h("input", { type: "checkbox", value: permission, checked, disabled: barred, "aria-label": `${name}: ${permission}`, onchange: () => (save.disabled = false) });
  });
  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const save = actionButton(t("role.save"), async () => {
    await call("put-role", { path: { name }, body: { permissions: chosen() } });
    await draw(t("role.saved", { name }));
  }, { "aria-label": `${t("role.save")}: ${name}`, disabled: true });
  const title = h("div", {}, name, fixed && h("div", { class: "quiet" }, t("role.built")), changes && h("div", { class: "row" }, save, removal(t("role.remove"), name, async () => {
    await call("delete-role", { path: { name } });
    await draw("");
  }, { hint: t("role.remove.hint"), word: name })));
  return { name, title, boxes };
}

/** Asks for a new role, which begins with the rights of another one. @param {(name: string) => void} added */
async function addRole(added) {
  /** @type {Role[]} */
  const roles = (await call("list-roles")).data;
  const name = h("input", { name: "role", required: true, maxlength: 63, pattern: "[a-z0-9][a-z0-9_\\-]*", title: t("role.name.hint"), autocomplete: "off" });
  const like = h("select", { name: "like" }, ...roles.map((one) => h("option", { value: one.name }, one.name)));
  const form = h("form", { class: "stacked", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    const permissions = (roles.find((one) => one.name === like.value)?.permissions ?? []).filter((one) => may(one) && one !== instance);
    if (!await attempt(() => call("put-role", { path: { name: name.value.trim() }, body: { permissions } }))) return;
    dialog.close();
    added(name.value.trim());
  } }, h("h2", {}, t("role.new")), h("label", {}, t("role.name"), name), h("p", { class: "quiet" }, t("role.name.hint")), h("label", {}, t("role.like"), like),
  dialogButtons(t("role.new"), () => dialog.close()));
  const dialog = openDialog(t("role.new"), form);
}
