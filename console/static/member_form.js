// The form of what a member has.

import { clearanceChoice, dialogButtons, endField, t } from "./access_frame.js";
import { namesIn } from "./access_fields.js";
import { attempt } from "./action.js";
import { call, may } from "./api.js";
import { h, openDialog } from "./dom.js";
import { projectChoice } from "./project_choice.js";

/**
 * @typedef {object} Member (schema MemberView)
 * @property {string} user
 * @property {"person" | "service"} kind
 * @property {string[]} roles
 * @property {string | null} project_id
 * @property {string[]} groups
 * @property {string[]} provisioned_groups
 * @property {boolean} active
 * @property {string | null} clearance
 * @property {string | null} expires_at
 * @property {{id: string, name: string, prefix: string, created_at: string, expires_at: string | null}[]} [keys]
 */

/** @typedef {{name: string, permissions: string[]}} Role */

/** Returns the roles of the workspace, as far as this reader knows them. @returns {Promise<Role[]>} */
export async function rolesOfWorkspace() {
  return may("roles.read") ? (await call("list-roles")).data : [];
}

/**
 * Returns the check boxes of roles. Those with a right that the reader lacks cannot be given.
 * @param {Role[]} roles
 * @param {string[]} chosen
 */
function roleBoxes(roles, chosen) {
  const known = new Set(roles.map((one) => one.name));
  const all = [...roles, ...chosen.filter((name) => !known.has(name)).map((name) => ({ name, permissions: [] }))];
  const boxes = all.map(({ name, permissions }) => {
    const lacks = !permissions.every(may);
    const box = h("input", { type: "checkbox", value: name, checked: chosen.includes(name), disabled: lacks && !chosen.includes(name) });
    return { box, element: h("label", { class: "choice" }, box, name, lacks && h("span", { class: "quiet" }, `(${t("member.lacks")})`)) };
  });
  return {
    element: h("fieldset", { class: "row" }, h("legend", {}, t("member.roles")), ...boxes.map((one) => one.element)),
    chosen: () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value),
  };
}

/**
 * Returns the fields of a member, and the body of the request that stores them.
 * @param {Role[]} roles
 * @param {Member | null} member null = a new one
 */
export function memberFields(roles, member) {
  const boxes = roleBoxes(roles, member?.roles ?? []);
  const project = projectChoice(member?.project_id ?? "", () => {}, true);
  const groups = h("input", { name: "groups", value: member?.groups.join(", ") });
  const clearance = clearanceChoice(member?.clearance ?? null);
  const end = endField(member?.expires_at);
  return {
    elements: [boxes.element, h("label", {}, t("member.project"), project), h("label", {}, t("member.groups"), groups),
      h("label", {}, t("member.clearance"), clearance), end.element],
    body: (/** @type {string} */ kind) => ({
      kind, roles: boxes.chosen(), project_id: project.value || undefined, groups: namesIn(groups), clearance: clearance.value || undefined, expires_at: end.value(),
    }),
  };
}

/**
 * Asks for somebody who is to be a member.
 * @param {(user: string) => void} added
 */
export async function addMember(added) {
  const name = h("input", { name: "user", required: true, maxlength: 256, autocomplete: "off" });
  const kind = h("select", { name: "kind" }, ...(/** @type {const} */ (["person", "service"])).map((one) => h("option", { value: one }, t(`member.${one}`))));
  const fields = memberFields(await rolesOfWorkspace(), null);
  const form = h("form", { class: "stacked", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    const user = name.value.trim();
    if (!await attempt(() => call("put-member", { path: { user }, body: fields.body(kind.value) }))) return;
    dialog.close();
    added(user);
  } }, h("h2", {}, t("member.add")), h("label", {}, t("member.name"), name), h("p", { class: "quiet" }, t("member.name.hint")), h("label", {}, t("member.kind"), kind),
  ...fields.elements, dialogButtons(t("member.add"), () => dialog.close()));
  const dialog = openDialog(t("member.add"), form);
}
