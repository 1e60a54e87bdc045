// What can be changed of a document: tags, metadata, and who sees it.

import { accessFields, metadataField, namesIn } from "./access_fields.js";
import { attempt } from "./action.js";
import { call, signedIn } from "./api.js";
import { changedNotice, differences, wasChanged } from "./changed_meanwhile.js";
import { classificationChoice } from "./classification.js";
import { fill, h, openDialog } from "./dom.js";
import { t } from "./language.js";

/**
 * Asks for the changes of a document and makes them.
 * @param {any} doc (schema Document)
 * @param {() => Promise<void>} changed
 */
export function editDocument(doc, changed) {
  const tags = h("input", { value: (doc.tags ?? []).join(", ") });
  const metadata = metadataField(doc.metadata ?? {});
  const access = accessFields(doc.access);
  const classification = classificationChoice(doc.classification ?? "", t("doc.classification.unset", { level: signedIn().baseLevel }));
  const active = h("input", { type: "checkbox", checked: doc.status !== "inactive" });
  const hold = h("input", { type: "checkbox", checked: doc.legalHold });
  const meanwhile = h("div");
  /** What the fields had when the dialog was opened: only what was typed since is sent. */
  const opened = editable(doc);
  let known = doc; // as it was read last
  const typed = () => {
    const { users, groups, workspace } = access.value();
    return { tags: namesIn(tags), metadata: metadata.value(), access: { workspace, users, groups }, classification: classification.value, active: active.checked, legalHold: hold.checked };
  };
  const save = async () => {
    fill(meanwhile);
    const body = changeOf(opened, typed(), known);
    /** @type {any} */
    let other = null; // the document as somebody else has changed it
    const done = await attempt(async () => {
      while (!other && Object.keys(body).length) {
        try {
          return void await call("patch-document", { path: { id: doc.id }, body, match: known.updatedAt });
        } catch (failure) {
          if (!wasChanged(failure)) throw failure;
          const before = known;
          known = await call("get-document", { path: { id: doc.id } });
          if (known.updatedAt === before.updatedAt) throw failure; // it is refused for another reason
          if (differences(editable(before), editable(known)).length) other = before; // not only processed meanwhile
        }
      }
    });
    if (other) return fill(meanwhile, changedNotice(differences(editable(other), editable(known)), t("changed.save")));
    if (!done) return;
    dialog.close();
    await changed();
  };
  const form = h("form", { class: "stacked", onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    void save();
  } }, h("h2", {}, t("doc.edit")), h("label", {}, t("doc.tags.list"), tags), metadata.element, h("label", {}, t("doc.classification"), classification),
  access.element,
  h("label", { class: "choice" }, active, t("doc.active")), h("label", { class: "choice" }, hold, t("doc.hold")), meanwhile,
  h("div", { class: "row" }, h("button", { class: "first" }, t("save")), h("button", { type: "button", onclick: () => dialog.close() }, t("cancel"))));
  const dialog = openDialog(t("doc.edit"), form);
}

/**
 * @typedef {object} Editable
 * @property {string[]} tags
 * @property {Record<string, any>} metadata
 * @property {{workspace: boolean, users: string[], groups: string[]}} access
 * @property {string} classification
 * @property {boolean} active
 * @property {boolean} legalHold
 */

/**
 * Returns what the dialog changes of a document.
 * @param {any} doc (schema Document)
 * @returns {Editable}
 */
function editable({ tags, metadata, access, classification, status, legalHold }) {
  const { workspace, users, groups } = access ?? {};
  return { tags: tags ?? [], metadata: metadata ?? {}, access: { workspace: !!workspace, users: users ?? [], groups: groups ?? [] }, classification: classification ?? "", active: status !== "inactive", legalHold: !!legalHold };
}

/**
 * Returns the body that sets what was typed.
 * @param {Editable} opened
 * @param {Editable} typed
 * @param {any} known the document as it was read last
 */
function changeOf(opened, typed, known) {
  const is = (/** @type {keyof Editable} */ name) => differences(opened[name], typed[name]).length > 0;
  const keys = differences(opened.metadata, typed.metadata).map(({ path }) => path.split(".")[0]);
  const metadata = { ...known.metadata, ...Object.fromEntries(keys.map((key) => [key, typed.metadata[key] ?? null])) };
  return {
    ...(is("tags") ? { tags: typed.tags } : {}), ...(is("access") ? { access: typed.access } : {}),
    ...(is("metadata") ? { metadata } : {}),
    ...(is("classification") ? { classification: typed.classification } : {}), ...(is("legalHold") ? { legal_hold: typed.legalHold } : {}),
    ...(known.publishedVersion && is("active") ? { status: typed.active ? "published" : "inactive" } : {}),
  };
}
