// A document: its pages with the boxes of its passages, its state, and its versions.

import { actionButton, confirm } from "./action.js";
import { address, call, may } from "./api.js";
import { classified } from "./classification.js";
import { whoSees } from "./document_access.js";
import { editDocument } from "./document_edit.js";
import { parsedView, versions } from "./document_versions.js";
import { fill, h } from "./dom.js";
import { statusOf } from "./documents_list.js";
import { findField } from "./find.js";
import { bytes, moment, number, t } from "./language.js";
import { pagesOf, reasonWithout } from "./made_pages.js";
import { blocks, plain, render } from "./markdown.js";
import { passagesOf } from "./passages.js";
import { polling } from "./polling.js";
import { navigate, rename } from "./router.js";
import { sheet } from "./sheet.js";
import { versionCompare } from "./version_compare.js";

/** @typedef {import("./passages.js").Passage} Passage */

/**
 * @param {string} id
 * @param {URLSearchParams} query page and chunk
 * @returns {Promise<import("./router.js").Page>}
 */
export async function openDocument(id, query) {
  let doc = await call("get-document", { path: { id } });
  const passages = await passagesOf(id);
  let page = Number(query.get("page")) || passages.find((one) => one.id === query.get("chunk"))?.page_number || 1;
  const head = h("div");
  const reader = h("div", { class: "reader" });
  const details = h("div");
  const who = h("div");
  const rights = h("div");
  const compare = versionCompare(id);
  const note = h("p", { class: "quiet", role: "status" });
  let pageCount = doc.pageCount;

  const readPage = (/** @type {string} */ chosen) => {
    const paged = pageCount > 0 && passages.some((one) => one.bbox?.length);
    const here = paged ? passages.filter((one) => one.bbox.some((box) => box.page_number === page)) : passages;
    const list = h("ol", { class: "passages", "data-list": "", "aria-label": t("doc.passages") }, ...here.map((one, i) =>
      h("li", { id: "passage-" + one.id, "data-item": "", tabindex: 0, class: one.id === chosen && "chosen", onfocus: () => choose(one.id), onmouseenter: () => choose(one.id) },
        h("span", { class: "quiet" }, `${i + 1} ${one.heading?.join(" › ") ?? ""}`), h("div", { class: "text" }, ...blocks(one.text).map((block) => render(block, plain))))));
    fill(reader, paged && sheetOf(doc, page, here, choose), h("div", {},
      paged && h("div", { class: "row" }, h("button", { type: "button", "aria-label": t("doc.page.previous"), disabled: page <= 1, onclick: () => turn(-1) }, "‹"),
        t("doc.page", { n: page, all: pageCount }),
        h("button", { type: "button", "aria-label": t("doc.page.next"), disabled: page >= pageCount, onclick: () => turn(1) }, "›")), list));
    if (chosen) choose(chosen);
  };
  const choose = (/** @type {string} */ chunk) => {
    for (const one of reader.querySelectorAll("[data-chunk], .passages li")) {
      one.classList.toggle("chosen", /** @type {HTMLElement} */ (one).dataset.chunk === chunk || one.id === "passage-" + chunk);
    }
  };
  const turn = (/** @type {number} */ by) => {
    page += by;
    rename(`/documents/${encodeURIComponent(id)}?page=${page}`);
    readPage("");
  };
  /** Shows the pages of an office document that has none yet, or says why there are none. */
  const makePages = async () => {
    if (!doc.publishedVersion || pageCount > 0 && passages.some((one) => one.bbox?.length)) return;
    const late = setTimeout(() => (note.textContent = t("pages.making")), 500);
    const list = await pagesOf(id).catch(() => null);
    clearTimeout(late);
    note.textContent = list ? reasonWithout(list) : "";
    if (!list?.data.length) return;
    passages.splice(0, passages.length, ...await passagesOf(id));
    pageCount = list.data.length;
    const chosen = query.get("chunk") ?? "";
    page = Math.min(pageCount, Number(query.get("page")) || passages.find((one) => one.id === chosen)?.page_number || 1);
    readPage(chosen);
    if (!passages.some((one) => one.bbox?.length)) note.textContent = t("pages.unplaced");
  };
  const search = findField(async () => passages, (hit) => {
    if (!hit) return;
    const at = hit.boxes[0]?.page_number;
    if (at && at !== page) {
      page = at;
      rename(`/documents/${encodeURIComponent(id)}?page=${page}`);
    }
    readPage(hit.passage.id);
    document.getElementById("passage-" + hit.passage.id)?.scrollIntoView({ block: "nearest" });
  });
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
    ...(doc.warnings ?? []).map((/** @type {any} */ one) => h("p", { class: "wrong" }, one.message)));
    if (shownFor(doc) !== who.dataset.of) fill(who, whoSees(doc));
    who.dataset.of = shownFor(doc);
    fill(details, ...detailsOf(doc), ...await versions(id, compare.offer));
    live.plan();
  };
  const refresh = async () => {
    const before = doc.publishedVersion;
    doc = await call("get-document", { path: { id } }).catch(() => doc);
    if (doc.publishedVersion !== before) {
      passages.splice(0, passages.length, ...await passagesOf(id));
      pageCount = doc.pageCount;
      readPage("");
      void makePages();
    }
    await draw();
  };
  const readRights = async () => {
    if (!may("holds.read") && !may("grants.read")) return;
    fill(rights, await (await import("./document_rights.js")).documentRights(doc, () => void refresh()));
  };
  const live = polling(refresh, () => doc.status === "pending");
  await draw();
  readPage(query.get("chunk") ?? "");
  void makePages();
  void readRights().catch(() => {}); // the rest of the page is there without it
  return { title: doc.name || doc.externalId, element: h("div", { class: "padded document" }, head, search, note, reader, parsedView(id), details, who, rights, compare.element), stop: live.stop };
}

/**
 * Returns the picture of a page with the boxes of its passages.
 * @param {{id: string, name: string}} doc
 * @param {number} page
 * @param {Passage[]} passages
 * @param {(chunk: string) => void} choose
 */
function sheetOf(doc, page, passages, choose) {
  const boxes = passages.flatMap((one) => one.bbox.map((box) => ({ ...box, chunk: one.id })));
  return sheet(doc, page, boxes, ({ chunk }) => ({
    class: "box thin", "data-chunk": chunk, onmouseenter: () => choose(chunk), onclick: () => document.getElementById("passage-" + chunk)?.focus(),
  }));
}

/** Returns what whoSees shows of a document: what was typed there stays while the rest is drawn again. @param {any} doc */
function shownFor(doc) {
  return JSON.stringify([doc.access, doc.status, doc.publishedVersion > 0, doc.legalHold]);
}

/** @param {any} doc a Document of the API */
function detailsOf(doc) {
  /** @type {[import("./language.js").Word, any][]} */
  const rows = [
    ["doc.external", doc.externalId], ["doc.type", doc.mediaType], ["doc.size", bytes(doc.bytes)], ["doc.language", doc.language],
    ["doc.passages", number(doc.chunkCount)], ["doc.tags", (doc.tags ?? []).join(", ")],
    ["doc.metadata", metadataOf(doc.metadata ?? {})], ["doc.classification", classified(doc.classification)], ["doc.changed", moment(doc.updatedAt)],
  ];
  return [h("h2", {}, t("doc.details")),
    h("dl", { class: "facts" }, ...rows.filter(([, value]) => value).flatMap(([word, value]) => [h("dt", {}, t(word)), h("dd", {}, value)])),
    doc.operatorUrl && h("p", {}, h("a", { href: doc.operatorUrl, target: "_blank", rel: "noopener" }, t("doc.run")))];
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
