// The passage of a source beside the answer: on the picture of its page with the cited lines
// boxed, in a player at its second, or as text.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { findField } from "./find.js";
import { t } from "./language.js";
import { blocks, plain, render } from "./markdown.js";
import { sheet } from "./sheet.js";
import { isWeb, sourceName } from "./sources.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {import("./sheet.js").Box[]} Boxes */

/** Returns the panel, which is hidden until it shows a source. */
export function sourcePanel() {
  /** @type {Source[]} */
  let sources = [];
  let at = 0;
  let zoom = 100;
  /** @type {HTMLElement | null} */
  let before = null;
  const title = h("h2", { tabindex: -1 });
  const content = h("div", { class: "pages" });
  const element = h("aside", { class: "panel", hidden: true, "aria-label": t("source.panel") });

  const scale = (/** @type {number} */ to) => {
    zoom = Math.max(50, Math.min(300, to));
    content.style.setProperty("--zoom", `${zoom}%`);
  };
  const close = () => {
    element.hidden = true;
    before?.focus();
  };
  const step = (/** @type {number} */ by) => void draw((at + by + sources.length) % sources.length, "");
  fill(element,
    h("div", { class: "row" }, title,
      h("button", { type: "button", "aria-label": t("source.previous"), onclick: () => step(-1) }, "‹"),
      h("button", { type: "button", "aria-label": t("source.next"), onclick: () => step(1) }, "›"),
      h("button", { type: "button", "aria-label": t("source.smaller"), onclick: () => scale(zoom - 25) }, "−"),
      h("button", { type: "button", "aria-label": t("source.larger"), onclick: () => scale(zoom + 25) }, "+"),
      h("button", { type: "button", "aria-label": t("close"), onclick: close }, "×")),
    content);
  /** Returns the field that finds words in the document of a source. @param {Source} source */
  const search = (source) => findField(source.documentId, (hit) => {
    if (!hit) return;
    fill(place, ...(hit.boxes.length ? pagesOf(source, hit.boxes) : passage(hit.passage.text, "")));
    place.querySelector(".box")?.scrollIntoView({ block: "center" });
  });
  const place = h("div");
  element.addEventListener("keydown", (e) => {
    if (e.key === "Escape") close();
  });

  const draw = async (/** @type {number} */ index, /** @type {string} */ quote) => {
    at = index;
    const source = sources[at];
    title.textContent = `[${source.rank}] ${sourceName(source)}`;
    const original = h("p", { class: "row" }, h("a", { href: `/documents/${encodeURIComponent(source.documentId)}?chunk=${encodeURIComponent(source.chunkId)}` }, t("source.document")),
      source.url && h("a", { href: source.url, target: "_blank", rel: "noopener" }, t("source.open")));
    if (source.removed) {
      fill(content, h("p", { class: "quiet" }, t("source.removed")));
    } else if (isWeb(source)) {
      fill(content, h("blockquote", { class: "passage" }, source.text),
        h("p", {}, h("a", { href: source.url, target: "_blank", rel: "noopener noreferrer nofollow" }, t("source.web"))));
    } else if (source.startTime !== null && source.startTime !== undefined) {
      const { player } = await import("./player.js");
      const shown = await player(source, quote);
      if (at !== index) return;
      fill(content, ...shown, original);
      content.querySelector(".marked")?.scrollIntoView({ block: "center" });
    } else {
      const boxes = await quoted(source, quote, source.bbox ?? []);
      if (at !== index) return;
      fill(place, ...(boxes.length ? pagesOf(source, boxes) : passage(source.text, quote)));
      const note = h("p", { class: "quiet", role: "status" });
      fill(content, search(source), note, place, original);
      content.querySelector(".box, mark, .marked")?.scrollIntoView({ block: "center" });
      if (!boxes.length) await onPages(index, quote, note);
    }
  };
  /**
   * Shows a passage on its page, if the document is one whose pages are made when they are
   * wanted; else it says why there are none.
   * @param {number} index
   * @param {string} quote
   * @param {HTMLElement} note
   */
  const onPages = async (index, quote, note) => {
    const source = sources[index];
    const late = setTimeout(() => (note.textContent = t("pages.making")), 500);
    const made = await import("./made_pages.js");
    const list = await made.pagesOf(source.documentId).catch(() => null);
    clearTimeout(late);
    if (at !== index || !note.isConnected) return;
    note.textContent = list ? made.reasonWithout(list) : "";
    if (!list?.data.length) return;
    const boxes = await quoted(source, quote, await boxesOf(source));
    if (at !== index || !note.isConnected) return;
    if (boxes.length) fill(place, ...pagesOf(source, boxes));
    note.textContent = boxes.length ? "" : t("pages.unplaced");
    place.querySelector(".box")?.scrollIntoView({ block: "center" });
  };
  return {
    element,
    /** @type {(of: Source[], index: number, quote: string) => void} */
    show: (of, index, quote) => {
      if (element.hidden) before = /** @type {HTMLElement} */ (document.activeElement);
      sources = of;
      element.hidden = false;
      void draw(index, quote);
      title.focus();
    },
  };
}

/** Returns the boxes of a passage as it is by now. @param {Source} source @returns {Promise<Boxes>} */
async function boxesOf(source) {
  const found = await call("get-chunk", { path: { chunk_id: source.chunkId } }).catch(() => null);
  return found?.bbox ?? [];
}

/**
 * Returns the boxes of the quoted sentence, or those of the whole passage if it is not there.
 * @param {Source} source
 * @param {string} quote
 * @param {Boxes} whole
 * @returns {Promise<Boxes>}
 */
async function quoted(source, quote, whole) {
  if (!quote || !whole.length) return whole;
  const found = await call("get-chunk", { path: { chunk_id: source.chunkId }, query: { quote: quote.slice(0, 2000) } }).catch(() => null);
  return found?.found ? found.boxes : whole;
}

/**
 * Returns the pages that boxes are on, with the boxes.
 * @param {Source} source
 * @param {Boxes} boxes
 */
function pagesOf(source, boxes) {
  const document = { id: source.documentId, name: source.documentName };
  const numbers = [...new Set(boxes.map((one) => one.page_number))];
  return numbers.map((number) => sheet(document, number, boxes, () => ({ class: "box" }), [h("blockquote", {}, source.text)]));
}

/**
 * Returns the text of a passage with the quoted words marked, or else the row, item or
 * paragraph that has most of them.
 * @param {string} text
 * @param {string} quote "" = none
 */
function passage(text, quote) {
  const shown = blocks(text).map((block) => render(block, plain));
  const words = new Set(wordsOf(quote));
  let best = 0;
  /** @type {Element | null} */
  let marked = null;
  for (const part of shown.flatMap((one) => [one, ...one.querySelectorAll("tr, li, p")])) {
    if (part.querySelector("tr, li, p")) continue; // its parts are looked at
    const all = wordsOf([...part.childNodes].map((child) => child.textContent).join(" "));
    const shared = new Set(all.filter((word) => words.has(word))).size;
    if (shared <= best) continue;
    best = shared;
    marked = part;
  }
  if (best > 1) marked?.classList.add("marked");
  return [h("div", { class: "passage text" }, ...shown)];
}

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
