// The passages of a document, and the search in them.

import { call } from "./api.js";

/**
 * @typedef {object} Passage (schema ChunkView)
 * @property {string} id
 * @property {string} text
 * @property {string[]} heading
 * @property {number | null} page_number
 * @property {import("./sheet.js").Box[]} bbox
 * @property {{start: number, end: number, page_number: number, page_size: number[], bbox: number[]}[]} [lines] of the text, with their places
 */

/**
 * Returns the passages of a document, at most 2,000 of them.
 * @param {string} id
 * @returns {Promise<Passage[]>}
 */
export async function passagesOf(id) {
  /** @type {Passage[]} */
  const all = [];
  let cursor = "";
  do {
    const found = await call("list-document-chunks", { path: { id }, query: { limit: 500, cursor } });
    all.push(...found.data);
    cursor = found.next_cursor ?? "";
  } while (cursor && all.length < 2000);
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
