// The passage that an answer cites, over the page.

import { fill, h, openDialog } from "../dom.js";
import { t } from "../language.js";
import { blocks, plain, render } from "../markdown.js";
import { isWeb, sourceName } from "../sources.js";

/** @typedef {import("../sources.js").Source} Source */

/**
 * Shows a source.
 * @param {Source[]} sources
 * @param {number} at
 */
export function showPassage(sources, at) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const title = h("h2", { tabindex: -1 });
  const text = h("div", { class: "text" });
  const draw = (/** @type {number} */ to) => {
    at = (to + sources.length) % sources.length;
    const source = sources[at];
    title.textContent = `[${source.rank}] ${sourceName(source)}`;
    fill(text, source.removed ? h("p", { class: "quiet" }, t("source.removed")) : [
      source.heading?.length > 0 && h("p", { class: "quiet" }, source.heading.join(" › ")),
      ...blocks(source.text).map((block) => render(block, plain)),
      isWeb(source) && h("p", {}, h("a", { href: source.url, target: "_blank", rel: "noopener noreferrer nofollow" }, t("source.web"))),
    ]);
    title.focus();
  };
  const dialog = openDialog(t("source.panel"), title, text, h("div", { class: "row" },
    sources.length > 1 && h("button", { type: "button", onclick: () => draw(at - 1) }, t("source.previous")),
    sources.length > 1 && h("button", { type: "button", onclick: () => draw(at + 1) }, t("source.next")),
    h("span", { class: "space" }), h("button", { type: "button", class: "first", onclick: () => dialog.close() }, t("close"))));
  dialog.classList.add("passages");
  dialog.addEventListener("close", () => before?.focus());
  draw(at);
}
