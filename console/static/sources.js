// The sources of an answer.

import { h } from "./dom.js";
import { clock, t } from "./language.js";

/**
 * A passage that an answer may cite, as the API shows it (schema Source).
 * @typedef {object} Source
 * @property {number} rank
 * @property {string} chunkId
 * @property {string} documentId
 * @property {string} documentName
 * @property {string} text
 * @property {string} url of the original
 * @property {string[]} heading
 * @property {number[]} [lines]
 * @property {string} [place] sheet and cells
 * @property {number | null} pageNumber
 * @property {import("./sheet.js").Box[]} bbox
 * @property {number | null} startTime
 * @property {number | null} endTime
 * @property {number | null} endTime
 * @property {boolean} usedInResponse
 * @property {boolean} [removed]
 */

/** Returns the name and the place of a source. @param {Source} source */
export function sourceName(source) {
  return [source.documentName ?? "", place(source)].filter(Boolean).join(", ");
}

/** Reports whether a source is a page of the web. @param {Source} source */
export function isWeb(source) {
  return !source.documentId && /^https?:\/\//.test(source.url ?? "");
}

/** Returns where in its document a source is; "" = not known. @param {Source} source */
function place(source) {
  if (isWeb(source)) return new URL(source.url).hostname;
  if (source.place) return source.place;
  if (source.pageNumber) return t("source.page", { n: source.pageNumber });
  if (source.startTime !== null && source.startTime !== undefined) return t("source.time", { from: clock(source.startTime) });
  if (source.heading?.length) return source.heading.join(" › ");
  if (source.lines?.length) return t("source.lines", { from: source.lines[0], to: source.lines[1] });
  return "";
}

/**
 * Returns the list of sources: those that the answer cites, or all where it cites none.
 * @param {Source[]} sources
 * @param {(sources: Source[], at: number, quote: string) => void} show
 */
export function sourceList(sources, show) {
  const used = sources.filter((one) => one.usedInResponse);
  const shown = used.length ? used : sources;
  if (!shown.length) return null;
  return h("section", { class: "sources" },
    h("h2", {}, t("ask.sources"), " ", h("span", { class: "quiet" }, t("ask.used", { n: used.length }))),
    h("ol", { "aria-label": t("ask.sources"), "data-list": "" }, ...shown.map((one) =>
      h("li", { value: one.rank }, one.removed
        ? h("span", { class: "quiet" }, t("source.removed"))
        : h("button", { type: "button", class: "source", "data-item": "", onclick: () => show(sources, sources.indexOf(one), "") },
          h("span", { class: "name" }, sourceName(one)), h("span", { class: "quiet" }, one.text.slice(0, 400)))))));
}
