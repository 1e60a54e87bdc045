// What a model did for a stored answer, from the events of its run.

import { address } from "./api.js";
import { answerWork } from "./answer_work.js";
import { fill } from "./dom.js";
import { follow } from "./events.js";

/**
 * Reads the events of a run once its answer comes near the window, and shows what the model did.
 * @param {string} run
 * @param {HTMLElement} place hidden until there is something
 */
export function storedWork(run, place) {
  const { elements, events } = answerWork(run);
  const show = () => {
    for (const waiting of elements[1].querySelectorAll(".waiting > .row")) waiting.remove(); // nobody can decide any more
    for (const one of elements[1].querySelectorAll("details")) one.open = false;
    const turns = place.closest(".turns");
    const above = turns && place.getBoundingClientRect().bottom < turns.getBoundingClientRect().top ? turns.scrollHeight : 0;
    fill(place, ...elements);
    place.hidden = false;
    if (turns && above) turns.scrollTop += turns.scrollHeight - above; // what is read stays where it is
  };
  const read = () => {
    let some = false;
    const stop = follow(address("workspace-run-events", { run_id: run }, { compact: "true" }), 0, {
      event: (name, data) => {
        if (events[name]) {
          some = true;
          events[name](data);
        } else if (some && (name === "completedMessage" || name === "error")) show();
      },
      state: (state) => {
        if (state === "lost" && !place.isConnected) stop();
      },
    });
  };
  const near = new IntersectionObserver((found) => {
    if (!found.some((one) => one.isIntersecting)) return;
    near.disconnect();
    read();
  }, { rootMargin: "400px" });
  near.observe(/** @type {HTMLElement} */ (place.parentElement));
}
