// The pages of the people and the programs of a workspace: all of them, and one.

import { accessPage, endOf, t } from "../access_frame.js";
import { may, call } from "../api.js";
import { openMember } from "../member.js";
import { addMember } from "../member_form.js";
import { h } from "../dom.js";
import { moment, t as common } from "../language.js";
import { pagedTable } from "../paged_table.js";
import { projectName, projectNames } from "../project_choice.js";
import { navigate } from "../router.js";

/** @typedef {import("../member_form.js").Member} Member */

/** @type {import("../router.js").Open} */
export function open([user]) {
  return user ? openMember(user) : openMembers();
}

/** Says whether a member is let in. @param {Member} member */
function stateOf(member) {
  if (!member.active) return h("span", { class: "state error" }, t("member.off"));
  const over = member.expires_at && new Date(member.expires_at) <= new Date();
  return over ? h("span", { class: "state error" }, t("member.over")) : h("span", { class: "state published" }, t("member.active"));
}

/** Says the groups of a member, and which of them the identity provider gave. @param {Member} member */
function groupsOf({ groups, provisioned_groups: given }) {
  return [groups.join(", "), given.length > 0 && h("div", { class: "quiet" }, t("member.provisioned", { groups: given.join(", ") }))];
}

async function openMembers() {
  const names = await projectNames();
  const table = pagedTable({
    name: t("access.members"),
    columns: [t("member.name"), t("member.roles"), t("member.state"), t("member.project"), t("member.groups.title"), t("member.clearance"), t("member.ends")].map((title) => ({ title })),
    load: (cursor) => call("list-members", { query: { limit: 100, cursor } }),
    key: (/** @type {Member} */ member) => member.user,
    cells: (member) => [
      [h("a", { href: "/members/" + encodeURIComponent(member.user), "data-item": "" }, member.user), member.kind === "service" && h("div", { class: "quiet" }, t("member.service"))],
      member.roles.join(", ") || h("span", { class: "quiet" }, t("member.roles.none")), stateOf(member), projectName(names, member.project_id), groupsOf(member),
      member.clearance ?? h("span", { class: "quiet" }, t("level.given.none")), endOf(member.expires_at, moment)],
    none: () => t("member.none"),
  });
  const add = may("members.write") && h("button", { type: "button", class: "first", onclick: () => void addMember((user) => navigate("/members/" + encodeURIComponent(user))) }, t("member.add"));
  return { title: common("access"), element: accessPage("members", [add], h("p", { class: "quiet" }, t("member.hint")), h("div", { class: "full" }, table.element)), stop: table.stop };
}
