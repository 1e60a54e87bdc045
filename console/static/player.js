// A recording at the second of what is quoted, with its transcript.

import { call } from "./api.js";
import { h } from "./dom.js";
import { clock, t } from "./language.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {{text: string, from: number, to: number}} Said in seconds */

/**
 * Returns a player and the transcript, whose times lead to their seconds.
 * @param {Source} source
 * @param {string} quote "" = the whole passage
 * @param {() => Promise<import("./passages.js").Passage[]>} passages of the recording
 */
export async function player(source, quote, passages) {
  const found = quote ? await call("get-chunk", { path: { chunk_id: source.chunkId }, query: { quote: quote.slice(0, 2000) } }).catch(() => null) : null;
  const from = found?.found ? found.start_time : source.startTime;
  const to = found?.found ? found.end_time : source.endTime;
  const video = h("video", { controls: true, preload: "metadata", src: `${source.url}#t=${from}` });
  const said = (await passages().catch(() => [])).flatMap(saidIn);
  const line = (/** @type {Said} */ one) => h("li", { class: one.from < to && one.to > from && "marked" },
    h("button", { type: "button", class: "plain", "aria-label": t("source.play", { at: clock(one.from) }), onclick: () => {
      video.currentTime = one.from;
      void video.play().catch(() => {}); // the person can press it
    } }, clock(one.from)), " ", one.text);
  return [video, said.length ? h("ol", { class: "transcript", "aria-label": t("source.transcript") }, ...said.map(line)) : h("blockquote", {}, source.text)];
}

/** Returns the parts of a passage with their times. @param {any} passage (schema ChunkView) @returns {Said[]} */
function saidIn({ text, segments, start_time, end_time }) {
  if (typeof start_time !== "number") return [];
  const letters = [...text];
  if (!segments?.length) return [{ text, from: start_time, to: end_time }];
  return segments.map((/** @type {any} */ one) => ({ text: letters.slice(one.start, one.end).join(""), from: one.start_time, to: one.end_time }));
}
