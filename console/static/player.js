// A recording at the second of what is quoted, with its transcript.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { h } from "./dom.js";
import { clock, t } from "./language.js";
import { passagesOf } from "./passages.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {{text: string, from: number, to: number}} Said in seconds */

const before = 20; // passages of the transcript that are shown before the cited one
const atOnce = 100;

/**
 * Returns a player and the transcript, whose times lead to their seconds.
 * @param {Source} source
 * @param {string} quote "" = the whole passage
 */
export async function player(source, quote) {
  const found = quote ? await call("get-chunk", { path: { chunk_id: source.chunkId }, query: { quote: quote.slice(0, 2000) } }).catch(() => null) : null;
  const from = found?.found ? found.start_time : source.startTime;
  const to = found?.found ? found.end_time : source.endTime;
  const video = h("video", { controls: true, preload: "metadata", src: `${source.url}#t=${from}` });
  const line = (/** @type {Said} */ one) => h("li", { class: one.from < to && one.to > from && "marked" },
    h("button", { type: "button", class: "plain", "aria-label": t("source.play", { at: clock(one.from) }), onclick: () => {
      video.currentTime = one.from;
      void video.play().catch(() => {}); // the person can press it
    } }, clock(one.from)), " ", one.text);
  const transcript = await transcriptOf(source, line).catch(() => []);
  return [video, ...transcript.length ? transcript : [h("blockquote", {}, source.text)]];
}

/**
 * Returns the transcript of a recording around a passage, with buttons that add what is before
 * and behind it; nothing if it has none.
 * @param {Source} source
 * @param {(one: Said) => HTMLElement} line
 */
async function transcriptOf({ documentId: id, chunkId }, line) {
  const [cited] = (await passagesOf(id, { chunk_id: chunkId })).data;
  let first = Math.max(1, (cited?.number ?? 1) - before);
  let next = first;
  const list = h("ol", { class: "transcript", "aria-label": t("source.transcript") });
  const earlier = actionButton(t("source.earlier"), async () => {
    const start = Math.max(1, first - atOnce);
    const { data } = await passagesOf(id, { from: start, limit: first - start });
    list.prepend(...data.flatMap(saidIn).map(line));
    first = start;
    earlier.hidden = first === 1;
  }, { class: "plain", hidden: first === 1 });
  const read = async () => {
    const { data, next_cursor: more } = await passagesOf(id, { from: next, limit: atOnce });
    list.append(...data.flatMap(saidIn).map(line));
    next += data.length;
    later.hidden = !more;
  };
  const later = actionButton(t("source.later"), read, { class: "plain" });
  await read();
  return list.childElementCount ? [earlier, list, later] : [];
}

/** Returns the parts of a passage with their times. @param {any} passage (schema ChunkView) @returns {Said[]} */
function saidIn({ text, segments, start_time, end_time }) {
  if (typeof start_time !== "number") return [];
  const letters = [...text];
  if (!segments?.length) return [{ text, from: start_time, to: end_time }];
  return segments.map((/** @type {any} */ one) => ({ text: letters.slice(one.start, one.end).join(""), from: one.start_time, to: one.end_time }));
}
