// Who sees a document, and why.

import { call, reasonOf } from "./api.js";
import { namesIn } from "./access_fields.js";
import { fill, h } from "./dom.js";
import { capital, inLanguage, moment } from "./language.js";
import { access as words } from "./words/access.js";

/** @typedef {{kind: string, id: string, effect: "allow" | "deny" | "none", detail: string, values?: Record<string, string>}} Reason (schema AccessReasonView) */

/** @type {(key: keyof typeof words, values?: Record<string, string | number>) => string} */
const t = (key, values) => inLanguage(words[key], values);

/**
 * Returns the sentences of who sees a document, and a form that tries a person.
 * @param {any} doc a Document of the API
 */
export function whoSees(doc) {
  return h("section", { class: "who" }, h("h2", {}, t("who.title")),
    h("ul", {}, ...sentences(doc).map((one) => h("li", {}, one))), tryForm(doc.id));
}

/** @param {any} doc @returns {string[]} */
function sentences(doc) {
  return [...hidden(doc), ...audience(doc), t("who.managers"), ...(doc.legalHold ? [t("who.hold")] : [])];
}

/** Returns why no search finds a document now. @param {any} doc @returns {string[]} */
function hidden(doc) {
  if (doc.status === "deleting") return [t("who.deleting")];
  if (doc.status === "inactive") return [t("who.inactive")];
  return doc.publishedVersion ? [] : [t("who.unpublished")];
}

/** Returns for whom a document is. @param {any} doc @returns {string[]} */
function audience(doc) {
  const access = doc.access ?? {};
  const named = [
    ...(access.workspace ? [t("who.everyone")] : []),
    ...(access.users ?? []).map((/** @type {string} */ name) => t("who.user", { name })),
    ...(access.groups ?? []).map((/** @type {string} */ name) => t("who.group", { name })),
  ];
  return named.length ? named : [t("who.private")];
}

/** Returns the form that asks whether a person sees a document. @param {string} id of the document */
function tryForm(id) {
  const user = h("input", { name: "user", autocomplete: "off", maxlength: 256 });
  const groups = h("input", { name: "groups", autocomplete: "off" });
  const outcome = h("div", { role: "status" });
  const ask = async () => {
    const query = { document_id: id, user: user.value.trim(), groups: namesIn(groups).join(",") };
    try {
      const found = await call("explain-access", { query });
      fill(outcome, ...explained(found, query.user));
    } catch (failure) {
      fill(outcome, h("p", { class: "wrong" }, reasonOf(failure)));
    }
  };
  const form = h("form", { "aria-label": t("who.try") }, h("h3", {}, t("who.try")),
    h("div", { class: "row" }, h("label", {}, t("who.try.user"), user), h("label", {}, t("who.try.groups"), groups), h("button", {}, t("who.try.button"))), outcome);
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    void ask();
  });
  return form;
}

/**
 * @param {{allowed: boolean, because: Reason[]}} found
 * @param {string} user
 */
function explained(found, user) {
  const name = user || t("who.anybody");
  return [h("p", {}, h("strong", {}, t(found.allowed ? "who.allowed" : "who.denied", { name }))),
    h("ol", { class: "reasons" }, ...found.because.map((one) =>
      h("li", { class: one.effect }, h("span", { class: "quiet" }, t(`why.${one.effect}`)), " ", sentenceOf(one))))];
}

/** Returns the sentences of a reason, in the words of the API if the table has none. @param {Reason} reason */
function sentenceOf({ kind, id, effect, detail, values = {} }) {
  const { project, groups, subject_kind, subject, object_kind, object, expires_at, reason } = values;
  const key = /** @type {keyof typeof words} */ (kind === "project" && effect === "allow" && project ? "why.project.held" : `why.${kind}.${effect}`);
  if (!(key in words) || kind === "grant" && !subject) return capital(detail) + ".";
  const named = (/** @type {string} */ what, /** @type {string} */ of, /** @type {string} */ name) => name && t(/** @type {"why.subject.user"} */ (`why.${what}.${of}`), { name });
  return [
    t(key, { id, project, subject: named("subject", subject_kind, subject), object: named("object", object_kind, object) }),
    groups && t("why.groups", { groups }), kind === "member" && project && t("why.project", { project }),
    expires_at && t("why.ends", { at: moment(expires_at) }), reason && t("why.reason", { reason }),
  ].filter(Boolean).join(" ");
}
