// Files on their way to the server: some at a time, with what was refused and why.

import { APIError, call, newKey, read, reasonOf } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./language.js";

/** @typedef {{file: File, path: string, level?: string}} Chosen level: its classification */

const atOnce = 3;

/**
 * Returns the bar of uploads, which is hidden while there are none.
 * @param {() => string} project that the files go to
 * @param {() => string} classification of the files; "" = none is said
 * @param {() => void} sent is called when files were taken in
 */
export function uploads(project, classification, sent) {
  /** @type {Chosen[]} */
  let waiting = [];
  /** @type {{chosen: Chosen, message: string}[]} */
  let refused = [];
  let all = 0;
  let done = 0;
  let open = 0;
  let paused = false;
  const bar = h("progress", { "aria-label": t("doc.upload") });
  const state = h("span", { role: "status" });
  const pause = h("button", { type: "button", onclick: () => ((paused = !paused), pump()) });
  const again = h("button", { type: "button", onclick: () => add(refused.splice(0).map((one) => one.chosen)) }, t("doc.again"));
  const reasons = h("ul", { class: "wrong" });
  const element = h("section", { class: "uploads", hidden: true }, h("div", { class: "row" }, bar, state, pause, again), reasons);

  const draw = () => {
    const left = waiting.length + open;
    element.hidden = all === 0;
    bar.max = all;
    bar.value = done;
    state.textContent = [left ? t("doc.sending", { done, all }) : t("doc.sent", { all: done }), refused.length ? t("doc.refused", { n: refused.length }) : ""].filter(Boolean).join(", ");
    pause.hidden = left === 0;
    pause.textContent = t(paused ? "doc.resume" : "doc.pause");
    again.hidden = left > 0 || refused.length === 0;
    fill(reasons, ...refused.slice(0, 20).map((one) => h("li", {}, `${one.chosen.path}: ${one.message}`)));
  };
  const pump = () => {
    while (!paused && open < atOnce && waiting.length) {
      const next = /** @type {Chosen} */ (waiting.shift());
      open++;
      void send(next).then((message) => {
        open--;
        if (message) refused.push({ chosen: next, message });
        else done++;
        pump();
        sent();
      });
    }
    draw();
  };
  /** @param {Chosen} chosen @returns {Promise<string>} why it was refused; "" = it was taken in */
  const send = async ({ file, path, level }) => {
    const form = new FormData();
    if (path !== file.name) form.append("externalId", path);
    if (level) form.append("classification", level);
    form.append("files", file, file.name);
    const key = newKey(); // what was taken in when the answer was lost is not taken in twice
    for (let pauseFor = 500; ; pauseFor = Math.min(pauseFor * 2, 10_000)) {
      try {
        const answer = await call("add-files", { path: { id: project() || "default" }, body: form, key });
        return answer.documents[0]?.error?.message ?? "";
      } catch (failure) {
        const status = failure instanceof APIError ? failure.status : 400;
        if (status !== 0 && status !== 429 && status !== 503) return reasonOf(failure);
        state.textContent = t("error.network");
        await new Promise((resolve) => setTimeout(resolve, pauseFor)); // the server comes back, or has room
      }
    }
  };
  const add = (/** @type {Chosen[]} */ chosen) => {
    if (waiting.length + open === 0) all = done = 0;
    all += chosen.length;
    waiting.push(...chosen.map((one) => ({ level: classification(), ...one })));
    pump();
  };
  return { element, add, busy: () => waiting.length + open > 0 };
}

/**
 * Returns the sample documents, which the server brings with it.
 * @returns {Promise<Chosen[]>}
 */
export async function samples() {
  const sample = (/** @type {string} */ name) => read("/console/samples/" + encodeURIComponent(name));
  const list = await (await sample("list.json")).json();
  return Promise.all(list.map(async (/** @type {string} */ name) => ({ file: new File([await (await sample(name)).blob()], name), path: name })));
}
