// The passage of a source beside the answer: on the picture of its page with the cited lines
// boxed, in a player at its second, or as text.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./language.js";
import { sheet } from "./sheet.js";
import { sourceName } from "./sources.js";

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
    } else if (source.startTime !== null && source.startTime !== undefined) {
      fill(content, h("video", { controls: true, preload: "metadata", src: `${source.url}#t=${source.startTime}` }), h("blockquote", {}, source.text), original);
    } else if (source.bbox?.length) {
      const boxes = await quoted(source, quote);
      if (at !== index) return;
      fill(content, ...pagesOf(source, boxes), original);
      content.querySelector(".box")?.scrollIntoView({ block: "center" });
    } else {
      fill(content, h("blockquote", { class: "passage" }, ...marked(source.text, quote)), original);
    }
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

/**
 * Returns the boxes of the quoted sentence, or of the whole passage if it is not there.
 * @param {Source} source
 * @param {string} quote
 * @returns {Promise<Boxes>}
 */
async function quoted(source, quote) {
  if (!quote) return source.bbox;
  const found = await call("get-chunk", { path: { chunk_id: source.chunkId }, query: { quote: quote.slice(0, 2000) } }).catch(() => null);
  return found?.boxes?.length ? found.boxes : source.bbox;
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
 * Returns a text with a sentence of it marked.
 * @param {string} text
 * @param {string} quote
 */
function marked(text, quote) {
  const start = quote ? text.indexOf(quote) : -1;
  if (start < 0) return [text];
  return [text.slice(0, start), h("mark", {}, quote), text.slice(start + quote.length)];
}
