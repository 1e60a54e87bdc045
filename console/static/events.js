// The events of a run, as docs/events.md describes them: a reader that was cut off goes on
// behind the last event that it saw.

import { doorHeaders, refusal } from "./api.js";
import { later } from "./later.js";

/**
 * @typedef {object} Following
 * @property {(name: string, data: any, id: number) => void} event
 * @property {(state: "open" | "lost" | "resumed") => void} [state] of the connection
 * @property {(failure: unknown) => void} [failed] the events cannot be read, or event has a fault
 */

const silence = 40_000; // milliseconds; the server sends a comment every 15 s
const pulse = 5000; // milliseconds between two looks at the clock, which goes on while the page sleeps
const longestPause = 8_000;

/**
 * Follows a run from an event on until its last one.
 * @param {string} url of the events
 * @param {number} after the id of the last event that was seen; 0 = none
 * @param {Following} to
 * @returns {() => void} a function that stops it
 */
export function follow(url, after, to) {
  const stopped = new AbortController();
  void (async () => {
    let pause = 500;
    let lost = false;
    let fault = false;
    for (let ended = false; !ended && !stopped.signal.aborted; ) {
      try {
        ended = await read(url, () => after, stopped.signal, {
          open: () => {
            to.state?.(lost ? "resumed" : "open");
            lost = false;
            pause = 500;
          },
          event: (name, data, id) => {
            if (id > 0) after = id;
            fault = true;
            to.event(name, data, id);
            fault = false;
          },
        });
      } catch (failure) {
        if (stopped.signal.aborted) return;
        const status = /** @type {any} */ (failure).status ?? 0;
        if (fault || status >= 400 && status < 500 && status !== 429) {
          to.failed?.(failure);
          return;
        }
      }
      if (ended || stopped.signal.aborted) return;
      if (!lost) to.state?.("lost");
      lost = true;
      await new Promise((resolve) => later(() => resolve(null), pause));
      pause = Math.min(pause * 2, longestPause);
    }
  })();
  return () => stopped.abort();
}

/** Events behind which a run has no more. */
const last = new Set(["completedMessage", "tool_end", "runEnded", "error"]);

/**
 * Reads one connection until it ends.
 * @param {string} url
 * @param {() => number} after
 * @param {AbortSignal} stopped
 * @param {{open: () => void, event: (name: string, data: any, id: number) => void}} to
 * @returns {Promise<boolean>} whether the run has ended
 */
async function read(url, after, stopped, to) {
  const quiet = new AbortController();
  let heard = Date.now();
  const check = () => {
    if (Date.now() - heard > silence) quiet.abort();
    else leave = later(check, pulse);
  };
  let leave = later(check, pulse);
  try {
    const answer = await fetch(url, {
      headers: { ...doorHeaders(), Accept: "text/event-stream", "Last-Event-ID": String(after()) },
      signal: AbortSignal.any([stopped, quiet.signal]),
    });
    if (answer.status === 204) return true;
    if (!answer.ok || !answer.body) throw await refusal(answer);
    to.open();
    const parse = parser();
    const text = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let ended = false;
    for (;;) {
      const { done, value } = await text.read();
      if (done) return ended;
      heard = Date.now();
      for (const event of parse(value)) {
        to.event(event.name, event.data, event.id);
        ended ||= last.has(event.name);
      }
    }
  } finally {
    leave();
  }
}

/**
 * Returns a function that takes the next text of a stream and returns the events that it
 * completes, with the pieces of _delta_sse joined.
 * @returns {(text: string) => {name: string, data: any, id: number}[]}
 */
function parser() {
  let rest = "";
  /** @type {{event?: string, data: string[], id?: string}} */
  let open = { data: [] };
  /** @type {Map<string, string[]>} */
  const pieces = new Map();
  return (text) => {
    const events = [];
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") {
        const colon = line.indexOf(":");
        const value = line.slice(colon + 1).replace(/^ /, "");
        const field = line.slice(0, colon);
        if (field === "data") open.data.push(value);
        else if (field === "event" || field === "id") open[field] = value;
        continue;
      }
      const { event = "message", data, id = "0" } = open;
      open = { data: [] };
      if (data.length === 0) continue;
      const parsed = JSON.parse(data.join("\n"));
      if (event !== "_delta_sse") {
        events.push({ name: event, data: parsed, id: Number(id) });
        continue;
      }
      const held = pieces.get(parsed.delta_id) ?? [];
      pieces.set(parsed.delta_id, held);
      held[parsed.index] = parsed.content;
      if (held.filter((piece) => piece !== undefined).length < parsed.total) continue;
      pieces.delete(parsed.delta_id);
      events.push({ name: parsed.event, data: JSON.parse(held.join("")), id: Number(id) });
    }
    return events;
  };
}
