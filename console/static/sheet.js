// The picture of a page with boxes on it.

import { address } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./language.js";

const dpi = 120;
const portrait = [595, 842]; // of a page without a box, in points: A4

/** @typedef {{bbox: number[], page_number: number, page_size: number[]}} Box in points, from the top left */

/**
 * @template {Box} B
 * @param {{id: string, name: string}} document
 * @param {number} page
 * @param {B[]} boxes those on other pages are left out
 * @param {(box: B) => Record<string, any>} properties of the element of a box
 * @param {Node[]} instead what is shown too if there is no picture
 */
export function sheet(document, page, boxes, properties, instead = []) {
  const here = boxes.filter((box) => box.page_number === page);
  const [width, height] = here[0]?.page_size ?? portrait;
  const picture = h("img", {
    src: address("get-document-page", { id: document.id, page: `${page}.png` }, { dpi }), width, height,
    alt: t("source.picture", { n: page, name: document.name }),
  });
  const figure = h("figure", { class: "sheet" }, picture, ...here.map((box) => {
    const [x1, y1, x2, y2] = box.bbox;
    const element = h("div", properties(box));
    const part = (/** @type {number} */ length, /** @type {number} */ of) => `${(length / of) * 100}%`;
    Object.assign(element.style, { left: part(x1, width), top: part(y1, height), width: part(x2 - x1, width), height: part(y2 - y1, height) });
    return element;
  }));
  picture.addEventListener("error", () => fill(figure, h("p", { class: "quiet" }, t("source.no_picture")), instead));
  return figure;
}
