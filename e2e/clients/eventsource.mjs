// Follows the runs of a conversation by the npm package eventsource, which behaves as
// browsers do: it reconnects after the last event, and stops at the 204 that it then gets.
import { ask, check, load } from "./packages.mjs";

const { EventSource } = load("eventsource");
const names = ["runStarted", "searchChoices", "toolCall", "apiMessageChunk", "sendSourcesMessage", "completedMessage", "error"];

// follow reads a run to its end. It leaves after a few events and comes back.
function follow(events) {
  const seen = [];
  return new Promise((resolve) => {
    const open = (address, leave) => {
      const source = new EventSource(address);
      for (const name of names) {
        source.addEventListener(name, (e) => {
          if (source.readyState === EventSource.CLOSED) return;
          if (name === "error" && e.data === undefined) {
            if (source.readyState === EventSource.CLOSED) resolve(seen);
            return;
          }
          seen.push({ id: Number(e.lastEventId), name, data: JSON.parse(e.data) });
          if (leave && seen.length === 4) {
            source.close();
            open(`${address}&after=4`, false);
          }
        });
      }
      source.onerror = () => source.readyState === EventSource.CLOSED && resolve(seen);
    };
    open(events + "&delta=off", true);
  });
}

const alive = setInterval(() => {}, 1000); // the package's timer for reconnecting does not keep node running
let conversation;
for (const text of ["What is on the pier?", "And who keeps it?"]) {
  const { events, runId } = await ask({ text, conversationId: conversation });
  const seen = await follow(events);
  check(seen.every((e, i) => e.id === i + 1), seen.map((e) => [e.id, e.name]));
  const last = seen.at(-1);
  check(last.name === "completedMessage" && last.data.runId === runId, last);
  const words = seen.filter((e) => e.name === "apiMessageChunk").map((e) => e.data.chunk.data);
  check(words.join("").endsWith(last.data.answer.slice(-20)), [words.join(""), last.data.answer]);
  check(!conversation || last.data.conversationId === conversation, last.data);
  conversation = last.data.conversationId;
}
clearInterval(alive);
console.log("done");
