// A document: its pages with the boxes of its passages, its state, what happened to it, and
// its versions.

import { actionButton, confirm } from "./action.js";
import { address, call, may } from "./api.js";
import { classified } from "./classification.js";
import { whoSees } from "./document_access.js";
import { editDocument } from "./document_edit.js";
import { documentReader } from "./document_reader.js";
import { documentRuns } from "./document_runs.js";
import { parsedView, versions } from "./document_versions.js";
import { fill, h } from "./dom.js";
import { statusOf } from "./documents_list.js";
import { bytes, languageName, moment, number, t } from "./language.js";
import { polling } from "./polling.js";
import { navigate } from "./router.js";
import { workflowLink } from "./runs_list.js";
import { versionCompare } from "./version_compare.js";
import { causeOf } from "./words/causes.js";

/**
 * @param {string} id
 * @param {URLSearchParams} query page and chunk
 * @returns {Promise<import("./router.js").Page>}
 */
export async function openDocument(id, query) {
  let doc = await call("get-document", { path: { id } });
  const reader = documentReader(doc, query);
  const runs = documentRuns(id);
  const head = h("div");
  const details = h("div");
  const who = h("div");
  const rights = h("div");
  const compare = versionCompare(id);

  const act = (/** @type {"retry-document" | "reingest-document"} */ what) => async () => {
    doc = await call(what, { path: { id } });
    await draw();
  };
  const draw = async () => {
    fill(head, h("p", {}, h("a", { href: "/documents" }, "‹ ", t("doc.all"))), h("div", { class: "row" },
      h("h1", {}, doc.name || doc.externalId), h("span", { class: "space" }),
      h("a", { class: "button", href: address("get-document-content", { id }), target: "_blank", rel: "noopener" }, t("doc.original")),
      (doc.status === "error" || doc.waiting) && actionButton(t(doc.waiting ? "doc.now" : "doc.retry"), act("retry-document"), { class: "first" }),
      h("button", { type: "button", onclick: () => editDocument(doc, refresh) }, t("doc.edit")),
      actionButton(t("doc.reingest"), act("reingest-document")),
      h("button", { type: "button", onclick: () => remove(doc) }, t("doc.remove"))),
    h("p", {}, statusOf(doc)),
    ...(doc.warnings ?? []).map((/** @type {any} */ one) => h("p", { class: "wrong" }, causeOf(one))));
    if (shownFor(doc) !== who.dataset.of) fill(who, whoSees(doc));
    who.dataset.of = shownFor(doc);
    fill(details, ...detailsOf(doc), ...(await Promise.all([versions(id, compare.offer), runs.look()]))[0]);
    live.plan();
  };
  const refresh = async () => {
    const before = doc.publishedVersion;
    doc = await call("get-document", { path: { id } }).catch(() => doc);
    if (doc.publishedVersion !== before) await reader.read(doc);
    await draw();
  };
  const readRights = async () => {
    if (!may("holds.read") && !may("grants.read")) return;
    fill(rights, await (await import("./document_rights.js")).documentRights(doc, () => void refresh()));
  };
  const live = polling(refresh, () => doc.status === "pending");
  await Promise.all([draw(), reader.read(doc)]);
  void readRights().catch(() => {}); // the rest of the page is there without it
  return { title: doc.name || doc.externalId, element: h("div", { class: "padded document" }, head, ...reader.elements, parsedView(id), details, runs.element, who, rights, compare.element),
    stop: () => {
      live.stop();
      runs.stop();
    },
  };
}

/** Returns what whoSees shows of a document: what was typed there stays while the rest is drawn again. @param {any} doc */
function shownFor(doc) {
  return JSON.stringify([doc.access, doc.status, doc.publishedVersion > 0, doc.legalHold]);
}

/** @param {any} doc a Document of the API */
function detailsOf(doc) {
  /** @type {[import("./language.js").Word, any][]} */
  const rows = [
    ["doc.external", doc.externalId], ["doc.type", doc.mediaType], ["doc.size", bytes(doc.bytes)], ["doc.language", languageName(doc.language)],
    ["doc.passages", number(doc.chunkCount)], ["doc.tags", (doc.tags ?? []).join(", ")],
    ["doc.metadata", metadataOf(doc.metadata ?? {})], ["doc.classification", classified(doc.classification)], ["doc.changed", moment(doc.updatedAt)],
  ];
  const link = workflowLink(doc.operatorUrl, t("doc.run"));
  return [h("h2", {}, t("doc.details")),
    h("dl", { class: "facts" }, ...rows.filter(([, value]) => value).flatMap(([word, value]) => [h("dt", {}, t(word)), h("dd", {}, value)])),
    link && h("p", {}, link)];
}

/** Asks for the name of a document, and removes it. @param {any} doc */
function remove(doc) {
  const name = doc.name || doc.externalId;
  confirm({ title: t("doc.remove.title", { name }), hint: t("doc.remove.hint"), label: t("doc.remove"), word: name }, async () => {
    await call("delete-document", { path: { id: doc.id } });
    navigate("/documents");
  });
}

/** Returns a line for each value. @param {Record<string, unknown>} metadata */
function metadataOf(metadata) {
  const lines = Object.entries(metadata).map(([key, value]) => h("div", {}, `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`));
  return lines.length > 0 && h("div", {}, ...lines);
}
