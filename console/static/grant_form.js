// The form of a new grant.

import { dialogButtons, endField } from "./access_frame.js";
import { attempt } from "./action.js";
import { call } from "./api.js";
import { h, openDialog } from "./dom.js";
import { documentNamed, t } from "./rights.js";

/** @typedef {keyof typeof import("./words/rights.js").rights} Word */

/**
 * Returns a choice.
 * @param {string} name
 * @param {readonly string[]} values each with its words below grant.
 */
function choice(name, values) {
  return h("select", { name }, ...values.map((value) => h("option", { value }, t(/** @type {Word} */ (`grant.${value}`)))));
}

/**
 * Asks for a grant and makes it.
 * @param {() => void} made
 * @param {{id: string, name: string}} [document] that it is on; without it the form asks
 */
export function addGrant(made, document) {
  const effect = choice("effect", ["allow", "deny"]);
  const permission = choice("permission", ["read", "write"]);
  const kind = choice("subject", ["user", "group", "project"]);
  const subject = h("input", { name: "name", required: true, maxlength: 256, autocomplete: "off" });
  const on = choice("object", ["document_id", "tag", "project_id"]);
  const object = h("input", { name: "on", required: true, maxlength: 256, autocomplete: "off" });
  const end = endField();
  const reason = h("input", { name: "reason", maxlength: 1000 });
  const make = async () => {
    const name = object.value.trim();
    const target = document ? { document_id: document.id } : { [on.value]: on.value === "document_id" ? await documentNamed(name) : name };
    await call("create-grant", { body: {
      subject: { [kind.value]: subject.value.trim() }, object: target, effect: effect.value, permission: permission.value, expires_at: end.value(), reason: reason.value.trim() || undefined,
    } });
  };
  const form = h("form", { class: "stacked", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    if (!await attempt(make)) return;
    dialog.close();
    made();
  } }, h("h2", {}, document ? `${t("grant.new")}: ${document.name}` : t("grant.new")),
  h("div", { class: "columns" }, h("label", {}, t("grant.effect"), effect), h("label", {}, t("grant.permission"), permission), h("label", {}, t("grant.subject"), kind), h("label", {}, t("grant.subject.name"), subject),
    !document && h("label", {}, t("grant.object"), on), !document && h("label", {}, t("grant.object.name"), object)),
  end.element, h("label", {}, t("grant.reason"), reason), dialogButtons(t("grant.new"), () => dialog.close()));
  const dialog = openDialog(t("grant.new"), form);
}
