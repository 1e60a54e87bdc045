// The pages of evaluations: all of them, one, what people do with it, and what belongs to them. All but the
// first two are loaded when they are opened.

import { h } from "../dom.js";
import { openEvaluation } from "../evaluation.js";
import { openEvaluations } from "../evaluations_list.js";

/** @typedef {import("../router.js").Page | Promise<import("../router.js").Page>} Opened */

/** The pages by the first part of their address behind /evaluations. @type {Record<string, (id: string | undefined, query: URLSearchParams) => Opened>} */
const pages = {
  sets: async (id) => (id ? (await import("../test_set.js")).openTestSet(id) : (await import("../test_sets.js")).openTestSets()),
  new: async (_, query) => (await import("../evaluation_form.js")).openForm(query),
  compare: async (_, query) => (await import("../evaluation_compare.js")).openCompare(query),
  insights: async (_, query) => (await import("../insights.js")).openInsights(query),
};

/** The pages of an evaluation by the part of their address behind its id. @type {Record<string, (id: string, query: URLSearchParams) => Opened>} */
const ofOne = {
  review: async (id, query) => (await import("../evaluation_review.js")).openReview(id, query),
  calibration: async (id) => (await import("../evaluation_calibration.js")).openCalibration(id),
};

/** Loads the style of these pages once. */
async function style() {
  const href = new URL("../evaluations.css", import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`)) return;
  await new Promise((done) => document.head.append(h("link", { rel: "stylesheet", href, onload: done, onerror: done })));
}

/** @type {import("../router.js").Open} */
export async function open([first, second], query) {
  await style();
  if (!first) return openEvaluations();
  if (Object.hasOwn(pages, first)) return pages[first](second, query);
  return second !== undefined && Object.hasOwn(ofOne, second) ? ofOne[second](first, query) : openEvaluation(first);
}
