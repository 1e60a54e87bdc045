// The reader of a document: its pages with the boxes of their passages, or its passages in
// parts if it has no pages, and the search in them. It asks for what it shows.

import { fill, h } from "./dom.js";
import { findField } from "./find.js";
import { number, t } from "./language.js";
import { pagesOf, reasonWithout } from "./made_pages.js";
import { blocks, plain, render } from "./markdown.js";
import { passagesOf, passagesOn } from "./passages.js";
import { rename } from "./router.js";
import { sheet } from "./sheet.js";

/** @typedef {import("./passages.js").Passage} Passage */

const inPart = 100; // passages of a part
const sample = 20; // passages that tell whether they have places on pages

/**
 * Returns the reader of a document, empty until it is read.
 * @param {any} doc (schema Document)
 * @param {URLSearchParams} query page, which is a part where there are no pages, and chunk
 */
export function documentReader(doc, query) {
  const id = doc.id;
  let pages = 0; // 0 = it has none, or its passages have no places on them
  let at = Number(query.get("page")) || 1;
  let chosen = query.get("chunk") ?? "";
  let turn = 0;
  const reader = h("div", { class: "reader" });
  const note = h("p", { class: "quiet", role: "status" });

  const choose = (/** @type {string} */ chunk) => {
    for (const one of reader.querySelectorAll("[data-chunk], .passages li")) {
      one.classList.toggle("chosen", /** @type {HTMLElement} */ (one).dataset.chunk === chunk || one.id === "passage-" + chunk);
    }
  };
  const line = (/** @type {Passage} */ one) =>
    h("li", { id: "passage-" + one.id, "data-item": "", tabindex: 0, onfocus: () => choose(one.id), onmouseenter: () => choose(one.id) },
      h("span", { class: "quiet" }, `${number(one.number)} ${one.heading?.join(" › ") ?? ""}`), h("div", { class: "text" }, ...blocks(one.text).map((block) => render(block, plain))));
  const ways = (/** @type {string} */ where, /** @type {boolean} */ more) => h("div", { class: "row" },
    h("button", { type: "button", "aria-label": t("doc.page.previous"), disabled: at <= 1, onclick: () => go(at - 1, "") }, "‹"), where,
    h("button", { type: "button", "aria-label": t("doc.page.next"), disabled: !more, onclick: () => go(at + 1, "") }, "›"));
  /** Reads what is shown, and shows it; the reader is busy until then. */
  const show = async () => {
    const now = ++turn;
    reader.ariaBusy = "true";
    try {
      const first = (at - 1) * inPart + 1;
      const { data, next_cursor: more } = pages ? { data: await passagesOn(id, at), next_cursor: null } : await passagesOf(id, { from: first, limit: inPart });
      if (now !== turn) return;
      const last = first + data.length - 1;
      const part = at > 1 || more ? t("doc.part", { from: number(first), to: number(last), all: number(Math.max(last, doc.chunkCount)) }) : "";
      fill(reader, pages > 0 && sheetOf(doc, at, data, choose), h("div", {},
        pages ? ways(t("doc.page", { n: at, all: pages }), at < pages) : part && ways(part, !!more),
        h("ol", { class: "passages", "data-list": "", "aria-label": t("doc.passages") }, ...data.map(line))));
      if (chosen) choose(chosen);
    } finally {
      if (now === turn) reader.ariaBusy = null;
    }
  };
  const go = async (/** @type {number} */ to, /** @type {string} */ chunk) => {
    chosen = chunk;
    if (at !== to) rename(`/documents/${encodeURIComponent(id)}?page=${to}`);
    at = to;
    await show();
  };
  const search = findField(id, async (hit) => {
    if (!hit) return;
    const there = pages ? hit.boxes[0]?.page_number ?? at : Math.ceil(hit.passage.number / inPart);
    if (there === at && document.getElementById("passage-" + hit.passage.id)) choose(hit.passage.id);
    else await go(there, hit.passage.id);
    document.getElementById("passage-" + hit.passage.id)?.scrollIntoView({ block: "nearest" });
  });
  /** Goes to the place that the address names, once it is known whether passages have places on pages. @param {number} count of pages */
  const begin = async (count) => {
    const [some, one] = await Promise.all([passagesOf(id, { limit: sample }), chosen !== "" && passagesOf(id, { chunk_id: chosen })]);
    pages = some.data.some((passage) => passage.bbox?.length) ? count : 0;
    const named = one ? one.data[0] : undefined;
    if (named && !query.get("page")) at = pages ? named.page_number ?? 1 : Math.ceil(named.number / inPart);
    at = Math.min(at, pages || Infinity);
    await show();
  };
  /** Shows the pages of an office document that has none yet, or says why there are none. */
  const makePages = async () => {
    if (!doc.publishedVersion || pages) return;
    const late = setTimeout(() => (note.textContent = t("pages.making")), 500);
    const list = await pagesOf(id).catch(() => null);
    clearTimeout(late);
    note.textContent = list ? reasonWithout(list) : "";
    if (!list?.data.length) return;
    await begin(list.data.length);
    if (!pages) note.textContent = t("pages.unplaced");
  };
  /** Reads the document, as it is now. @param {any} now (schema Document) */
  const read = async (now) => {
    doc = now;
    await begin(doc.pageCount);
    void makePages().catch(() => {}); // the passages are there without them
  };
  return { elements: [search, note, reader], read };
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
