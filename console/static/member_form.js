// The form of what a member has.

import { clearanceChoice, dialogButtons, endField, t } from "./access_frame.js";
import { namesIn } from "./access_fields.js";
import { attempt } from "./action.js";
import { call, may } from "./api.js";
import { h, openDialog } from "./dom.js";
import { t as common } from "./language.js";
import { projectNames } from "./project_choice.js";

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

/** @typedef {{roles: Role[], projects: Map<string, string>}} Choices what a member can have: roles, and projects by their ids */

/** Returns the roles and the projects of the workspace, as far as this reader knows them. @returns {Promise<Choices>} */
export async function choicesOfWorkspace() {
  const [roles, projects] = await Promise.all([may("roles.read") ? call("list-roles") : { data: [] }, projectNames()]);
  return { roles: roles.data, projects };
}

/**
 * Returns the choice of the project to which a member is held; "" = none. The one that the member
 * has is in it, whether the list of projects has it or not.
 * @param {Map<string, string>} projects
 * @param {string} chosen
 */
function projectOf(projects, chosen) {
  const all = new Map([["", common("ask.every")], ...(chosen ? [/** @type {[string, string]} */ ([chosen, chosen])] : []), ...projects]);
  return h("select", { name: "project" }, ...[...all].map(([id, name]) => h("option", { value: id, selected: id === chosen }, name)));
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
 * @param {Choices} choices
 * @param {Member | null} member null = a new one
 */
export function memberFields({ roles, projects }, member) {
  const boxes = roleBoxes(roles, member?.roles ?? []);
  const project = projectOf(projects, member?.project_id ?? "");
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
  const fields = memberFields(await choicesOfWorkspace(), null);
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
