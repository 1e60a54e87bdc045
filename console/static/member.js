// The page of a person or a service account.

import { accessTabs, t } from "./access_frame.js";
import { attempt } from "./action.js";
import { actionForm, field, removal, showOnce } from "./action_form.js";
import { call, may, signedIn } from "./api.js";
import { fill, h } from "./dom.js";
import { moment, t as common } from "./language.js";
import { memberFields, rolesOfWorkspace } from "./member_form.js";
import { pagedTable } from "./paged_table.js";
import { navigate } from "./router.js";

/** @typedef {import("./member_form.js").Member} Member */

/**
 * @param {string} user
 * @returns {Promise<import("./router.js").Page>}
 */
export async function openMember(user) {
  /** @type {[Member, import("./member_form.js").Role[]]} */
  const [member, roles] = await Promise.all([call("get-member", { path: { user } }), rolesOfWorkspace()]);
  const person = member.kind === "person";
  const sessions = person && (may("sessions.admin") || signedIn().user === user) ? sessionsOf(user) : null;
  const element = h("div", { class: "padded document rights" }, h("h1", {}, common("access")), accessTabs("members"),
    h("div", { class: "row" }, h("h2", {}, user), h("span", { class: "quiet" }, t(`member.${member.kind}`)), h("span", { class: "space" }),
      person && may("grants.read") && h("a", { class: "button", href: "/grants?" + new URLSearchParams({ user }) }, t("member.grants")),
      may("members.write") && removal(t("member.remove"), user, async () => {
        await call("delete-member", { path: { user } });
        navigate("/members");
      }, { hint: t(person ? "member.remove.person" : "member.remove.service", { name: user }), word: user })),
    !member.active && h("p", { class: "wrong" }, t("member.off")),
    member.provisioned_groups.length > 0 && h("p", { class: "quiet" }, t("member.provisioned", { groups: member.provisioned_groups.join(", ") })),
    changeForm(member, roles),
    sessions && h("section", {}, h("h2", {}, t("member.sessions")), sessions.element),
    !person && keysOf(member));
  return { title: user, element, stop: () => sessions?.stop() };
}

/** Returns the form that changes a member; its fields alone for who may not. @param {Member} member @param {import("./member_form.js").Role[]} roles */
function changeForm(member, roles) {
  const fields = memberFields(roles, member);
  const state = h("p", { role: "status", class: "quiet" });
  const button = h("button", { class: "first" }, t("member.change"));
  return h("form", { class: "stacked narrow", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    state.textContent = "";
    button.disabled = true;
    if (await attempt(() => call("put-member", { path: { user: member.user }, body: fields.body(member.kind) }))) state.textContent = t("member.saved");
    button.disabled = false;
  } }, h("fieldset", { class: "stacked bare", disabled: !may("members.write") }, ...fields.elements), may("members.write") && h("div", { class: "row" }, button, state));
}

/** Returns the table of the browsers in which a person is signed in. @param {string} user */
function sessionsOf(user) {
  const table = pagedTable({
    name: t("member.sessions"),
    columns: [t("member.session.since"), t("member.session.until"), common("actions")].map((title) => ({ title })),
    load: (cursor) => call("list-sessions", { query: { user, limit: 100, cursor } }),
    key: (/** @type {{id: string, created_at: string | null, expires_at: string}} */ session) => session.id,
    cells: (session) => [moment(session.created_at), moment(session.expires_at),
      removal(t("member.session.end"), moment(session.created_at), async () => {
        await call("end-session", { path: { id: session.id } });
        table.drop(session.id);
      }, { hint: t("member.session.end.hint") })],
    none: () => t("member.sessions.none"),
  });
  return { ...table, element: h("div", { class: "full" }, table.element) };
}

/** Returns the keys of a service account, and the form of a new one. @param {Member} member */
function keysOf(member) {
  const list = h("div");
  const draw = (/** @type {Member["keys"]} */ keys) => fill(list, keys?.length
    ? h("ul", {}, ...keys.map((key) => h("li", {}, key.name, " ", h("code", { class: "quiet" }, key.prefix), " ", moment(key.created_at))))
    : h("p", { class: "quiet" }, t("member.keys.none")));
  draw(member.keys);
  const name = field(t("member.key.name"), { name: "key", maxlength: 200 });
  const form = may("keys.write") && actionForm(t("member.key.new"), async () => {
    const made = await call("create-key", { body: { name: name.value, member: member.user } });
    showOnce([[made.name, made.key]]);
    draw((await call("get-member", { path: { user: member.user } })).keys);
  }, name);
  return h("section", {}, h("h2", {}, t("member.keys")), list, form, may("keys.read") && h("p", {}, h("a", { href: "/keys" }, common("keys"))));
}
