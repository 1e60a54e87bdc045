// The pages of evaluations: all of them, one, its review, and what belongs to them. All but the
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
  return second === "review" ? import("../evaluation_review.js").then((page) => page.openReview(first, query)) : openEvaluation(first);
}
