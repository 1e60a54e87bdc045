// A small chart of bars.

import { number } from "./language.js";
import { t } from "./operations_words.js";

const width = 320;
const height = 110;
const space = 18; // below the bars, for the days

/**
 * @param {string} tag
 * @param {Record<string, string | number>} properties
 * @param {...(Node | string)} children
 */
function svg(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * Returns a chart of one bar for each day.
 * @param {string} title
 * @param {{day: string, value: number}[]} days at least one
 * @param {(value: number) => string} [shown] returns a value for people
 */
export function barChart(title, days, shown = (value) => number(value)) {
  const most = days.reduce((best, one) => (one.value > best.value ? one : best));
  const total = days.reduce((sum, one) => sum + one.value, 0);
  const step = width / days.length;
  const scale = (height - space - 14) / (most.value || 1);
  const id = "chart-" + crypto.getRandomValues(new Uint32Array(1))[0];
  const words = { total: shown(total), most: shown(most.value), day: most.day };
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-labelledby": `${id}-title ${id}-desc` },
    svg("title", { id: `${id}-title` }, title), svg("desc", { id: `${id}-desc` }, t("use.chart", words)),
    svg("line", { x1: 0, x2: width, y1: height - space, y2: height - space }),
    ...days.filter((one) => one.value > 0).map((one) => {
      const tall = Math.max(1, one.value * scale);
      return svg("rect", { x: days.indexOf(one) * step + step * 0.1, width: step * 0.8, y: height - space - tall, height: tall }, svg("title", {}, `${one.day}: ${shown(one.value)}`));
    }),
    most.value > 0 ? svg("text", { x: 0, y: 9 }, shown(most.value)) : "",
    svg("text", { x: 0, y: height - 4 }, days[0].day), svg("text", { x: width, y: height - 4, "text-anchor": "end" }, days[days.length - 1].day));
}
