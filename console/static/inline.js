// The marks within a line of Markdown: emphasis, code, links, and Cairn's citations.

import { h } from "./dom.js";

/**
 * @typedef {object} Marks
 * @property {(chunk: string, rank: string, sentence: string) => Node} citation the element of a citation
 * @property {(url: string, title: string, rank: string) => Node} web that of a citation of the web
 */

const mark = new RegExp(
  [
    /<citation id="([^"]*)">\[?([^<\]]*)\]?<\/citation>/, // 1, 2
    /<web_citation url="([^"]*)" title="([^"]*)">\[?([^<\]]*)\]?<\/web_citation>/, // 3, 4, 5
    /(?<ticks>`+)(.+?)\k<ticks>(?!`)/, // 6, 7
    /!?\[([^\]]*)\]\((https?:\/\/[^\s)]+)[^)]*\)/, // 8, 9
    /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}'])/, // 10
    /\*\*(?=\S)(.+?)(?<=\S)\*\*/, // 11
    /(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])/, // 12
    /(?<!\w)_(?=\S)([^_]+?)(?<=\S)_(?!\w)/, // 13
    /~~(?=\S)(.+?)(?<=\S)~~/, // 14
    /\\([\\`*_{}[\]()#+\-.!|<>~])/, // 15
  ].map((part) => part.source).join("|"),
  "g",
);

/**
 * Returns the nodes of a line.
 * @param {string} text
 * @param {Marks} marks
 * @returns {(Node | string)[]}
 */
export function inline(text, marks) {
  /** @type {(Node | string)[]} */
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(mark)) {
    if (found.index > end) nodes.push(text.slice(end, found.index));
    nodes.push(node(found, text, marks));
    end = found.index + found[0].length;
  }
  if (end < text.length) nodes.push(text.slice(end));
  return nodes;
}

/**
 * @param {RegExpMatchArray} found
 * @param {string} text
 * @param {Marks} marks
 * @returns {Node | string}
 */
function node(found, text, marks) {
  if (found[1] !== undefined) return marks.citation(found[1], found[2], sentenceBefore(text.slice(0, found.index)));
  if (found[3] !== undefined) return marks.web(unescape(found[3]), unescape(found[4]), found[5]);
  if (found[6]) return h("code", {}, found[7].trim());
  if (found[9]) return link(found[9], found[8] || found[9]);
  if (found[10]) return link(found[10], found[10]);
  if (found[11]) return h("strong", {}, ...inline(found[11], marks));
  if (found[12] ?? found[13]) return h("em", {}, ...inline(found[12] ?? found[13], marks));
  if (found[14]) return h("s", {}, ...inline(found[14], marks));
  return found[15];
}

/**
 * @param {string} url http or https alone
 * @param {string} text
 */
function link(url, text) {
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}

/**
 * Returns a text without the marks of citations.
 * @param {string} text
 * @param {"$1" | ""} rank what stays of a citation: $1 = its rank in brackets
 */
export function withoutCitations(text, rank) {
  return text.replace(/<(?:web_)?citation [^>]*>([^<]*)<\/(?:web_)?citation>/g, rank);
}

/** @param {string} text */
function unescape(text) {
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/**
 * Returns the sentence that ends a text, without citations: what a citation behind it proves.
 * @param {string} text
 */
function sentenceBefore(text) {
  const plain = withoutCitations(text, "").replace(/[*_`]/g, "").trim();
  return /(?:^|[.!?]\s+)([^.!?]*(?:[.!?](?!\s)[^.!?]*)*[.!?]?)$/.exec(plain)?.[1] ?? plain;
}
