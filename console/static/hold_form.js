// The form of a new legal hold, which counts its documents first.

import { namesIn } from "./access_fields.js";
import { actionButton, attempt } from "./action.js";
import { call, signedIn } from "./api.js";
import { fill, h, openDialog } from "./dom.js";
import { number, t as common } from "./language.js";
import { projectChoice } from "./project_choice.js";
import { documentNamed, t } from "./rights.js";

/**
 * Returns the fields of which documents a hold takes.
 * @param {string[]} documents ids that are named at first
 */
function choiceOf(documents) {
  const named = h("input", { type: "radio", name: "by", value: "documents", checked: true, onchange: () => show() });
  const met = h("input", { type: "radio", name: "by", value: "filter", onchange: () => show() });
  const list = h("textarea", { rows: 4, name: "documents", spellcheck: "false" }, documents.join("\n"));
  const project = projectChoice("", () => {});
  const tags = h("input", { name: "tags" });
  const level = h("select", { name: "classification" }, h("option", { value: "" }, t("hold.classification.any")), ...signedIn().levels.map((one) => h("option", { value: one }, one)));
  const byName = h("label", {}, t("hold.documents.list"), list);
  const byFilter = h("div", { class: "columns" }, h("label", {}, t("hold.project"), project), h("label", {}, t("hold.tags"), tags), h("label", {}, t("hold.classification"), level));
  const show = () => {
    byName.hidden = !named.checked;
    byFilter.hidden = named.checked;
  };
  show();
  const lines = () => [...new Set(list.value.split("\n").map((one) => one.trim()).filter(Boolean))];
  const value = async () => {
    if (named.checked) {
      const ids = [];
      for (const line of lines()) ids.push(await documentNamed(line));
      return { document_ids: ids };
    }
    const conditions = level.value ? [{ field: "classification", type: "eq", value: level.value }] : undefined;
    return { filter: { project_id: project.value || undefined, tags: namesIn(tags), conditions } };
  };
  const element = h("fieldset", { class: "stacked" }, h("legend", {}, t("hold.documents")),
    h("label", { class: "choice" }, named, t("hold.by.documents")), h("label", { class: "choice" }, met, t("hold.by.filter")), byName, byFilter);
  return { element, value, later: () => met.checked };
}

/**
 * Asks for a legal hold, counts its documents, and places it.
 * @param {() => void} placed
 * @param {string[]} [documents] ids that it is on at first
 */
export function placeHold(placed, documents = []) {
  const name = h("input", { name: "hold", required: true, maxlength: 200 });
  const reason = h("input", { name: "reason", required: true, maxlength: 2000 });
  const which = choiceOf(documents);
  const outcome = h("div", { role: "status" });
  const count = async () => {
    const body = { name: name.value.trim(), reason: reason.value.trim(), ...await which.value() };
    const { documents: n } = await call("create-hold", { body: { ...body, dry_run: true } });
    fill(outcome, h("p", { class: "notice row" }, t(which.later() ? "hold.counted.later" : "hold.counted", { n: number(n) }), actionButton(t("hold.placed"), async () => {
      await call("create-hold", { body });
      dialog.close();
      placed();
    }, { class: "first" })));
  };
  const form = h("form", { class: "stacked", oninput: () => fill(outcome), onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    void attempt(count);
  } }, h("h2", {}, t("hold.place")), h("label", {}, t("hold.name"), name), h("label", {}, t("hold.reason"), reason), which.element, outcome,
  h("div", { class: "row" }, h("button", {}, t("hold.count")), h("button", { type: "button", onclick: () => dialog.close() }, common("cancel"))));
  const dialog = openDialog(t("hold.place"), form);
}

/**
 * Asks why a hold is lifted, and lifts it.
 * @param {{id: string, name: string}} hold
 * @param {() => void} lifted
 */
export function liftHold({ id, name }, lifted) {
  const reason = h("input", { name: "reason", required: true, maxlength: 2000 });
  const title = `${t("hold.lift")}: ${name}`;
  const form = h("form", { class: "stacked", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    if (!await attempt(() => call("lift-hold", { path: { id }, body: { reason: reason.value.trim() } }))) return;
    dialog.close();
    lifted();
  } }, h("h2", {}, title), h("p", {}, t("hold.lift.hint")), h("label", {}, t("hold.lift.reason"), reason),
  h("div", { class: "row" }, h("button", { class: "first" }, t("hold.lift")), h("button", { type: "button", onclick: () => dialog.close() }, common("cancel"))));
  const dialog = openDialog(title, form);
}
