// The citations within an answer: a number that shows its passage, and opens it.

import { h } from "./dom.js";
import { t } from "./language.js";
import { sourceName } from "./sources.js";

/** @typedef {import("./sources.js").Source} Source */

/**
 * Returns the marks of an answer's citations.
 * @param {() => Source[]} sources
 * @param {(sources: Source[], at: number, quote: string) => void} show opens a passage
 * @returns {import("./markdown.js").Marks}
 */
export function citations(sources, show) {
  return {
    citation: (chunk, rank, sentence) => {
      const at = sources().findIndex((one) => one.chunkId === chunk);
      const source = sources()[at];
      const label = t("ask.citation", { n: rank, name: source ? sourceName(source) : "" });
      const button = h("button", { type: "button", class: "citation", "aria-label": label, disabled: at < 0, onclick: () => show(sources(), at, sentence) }, rank);
      if (source?.text) peek(button, sourceName(source), source.text);
      return button;
    },
    web: (url, title, rank) => {
      const source = sources().find((one) => one.url === url); // the model may have made another address up
      if (!source || !/^https?:\/\//.test(url)) return document.createTextNode(`[${rank}]`);
      const link = h("a", { class: "citation", href: url, target: "_blank", rel: "noopener noreferrer nofollow", "aria-label": t("ask.web", { n: rank, title }) }, rank);
      peek(link, title, source.text);
      return link;
    },
  };
}

/**
 * Shows a passage above an element that is pointed at or has the focus.
 * @param {HTMLElement} element
 * @param {string} name
 * @param {string} text
 */
function peek(element, name, text) {
  /** @type {HTMLElement | null} */
  let shown = null;
  const hide = () => {
    shown?.remove();
    shown = null;
  };
  const open = () => {
    if (shown) return;
    shown = h("div", { class: "peek", "aria-hidden": true }, h("strong", {}, name), h("p", {}, text.slice(0, 600)));
    document.body.append(shown);
    const at = element.getBoundingClientRect();
    const { width, height } = shown.getBoundingClientRect();
    const above = at.top - height - 8;
    shown.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
    shown.style.top = `${above > 8 ? above : at.bottom + 8}px`;
    watch();
  };
  const watch = () => { // an answer that comes is drawn anew, and what is removed is not left
    if (!element.isConnected) hide();
    else if (shown) requestAnimationFrame(watch);
  };
  for (const event of ["mouseenter", "focus"]) element.addEventListener(event, open);
  for (const event of ["mouseleave", "blur", "click"]) element.addEventListener(event, hide);
  element.addEventListener("keydown", (e) => {
    if (e.key === "Escape") hide();
  });
}
