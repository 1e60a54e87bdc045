// The passages of a document, and the search in them.

import { call } from "./api.js";

/**
 * @typedef {object} Passage (schema ChunkView)
 * @property {string} id
 * @property {number} number its place in the document, 1 = first; of a list that is narrowed
 * @property {string} text
 * @property {string[]} heading
 * @property {number | null} page_number
 * @property {import("./sheet.js").Box[]} bbox
 * @property {{start: number, end: number, page_number: number, page_size: number[], bbox: number[]}[]} [lines] of the text, with their places
 */

/** @typedef {{data: Passage[], next_cursor: string | null}} Part */

/**
 * Returns a part of the passages of a document.
 * @param {string} id
 * @param {import("./api.js").Query} which
 * @returns {Promise<Part>}
 */
export function passagesOf(id, which) {
  return call("list-document-chunks", { path: { id }, query: which });
}

/** Returns the passages on a page of a document. @param {string} id @param {number} page */
export async function passagesOn(id, page) {
  /** @type {Passage[]} */
  const all = [];
  for (let cursor = /** @type {string | null} */ (""); cursor !== null; ) {
    const found = await passagesOf(id, { page_number: page, limit: 500, cursor });
    all.push(...found.data);
    cursor = found.next_cursor ?? null;
  }
  return all;
}

/** @typedef {{passage: Passage, boxes: import("./sheet.js").Box[]}} Hit */

/**
 * Returns where words stand in passages, without regard to case.
 * @param {Passage[]} passages
 * @param {string} words
 * @returns {Hit[]}
 */
export function find(passages, words) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  /** @type {Hit[]} */
  const hits = [];
  for (const passage of passages) {
    const text = passage.text.toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const lines = (passage.lines ?? []).filter((line) => line.start < at + wanted.length && line.end > at);
      hits.push({ passage, boxes: lines.length ? lines : passage.bbox ?? [] });
    }
  }
  return hits;
}
