// What the page to ask on shows while there are no documents: how to get some, and what to ask
// the samples.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { inLanguage } from "./language.js";
import { polling } from "./polling.js";
import { samples, uploads } from "./uploads.js";
import { first as words } from "./words/first.js";

/** @type {(key: keyof typeof words) => string} */
const t = (key) => inLanguage(words[key]);

/** Questions that the samples answer, in their language. */
const questions = ["How is the HX-4 calibrated?", "What does fault E02 mean?", "How long does the warranty last?"];

/**
 * Shows it.
 * @param {HTMLElement} place
 * @param {(question: string) => void} ask
 */
export function firstDocuments(place, ask) {
  const done = h("div", { role: "status" });
  let waiting = false;
  const live = polling(async () => {
    waiting = (await call("list-documents", { query: { status: "pending", limit: 1 } })).data.length > 0;
    if (!waiting) fill(done, h("p", {}, t("first.ready")), h("ul", { class: "suggestions" }, ...questions.map((one) => h("li", {}, h("button", { type: "button", onclick: () => ask(one) }, one)))));
  }, () => waiting && place.isConnected);
  const sending = uploads(() => "default", () => "", () => {
    waiting = true;
    live.plan();
  });
  const load = actionButton(t("first.samples"), async () => {
    load.hidden = true;
    sending.add(await samples());
  });
  fill(place, h("p", {}, h("a", { href: "/documents" }, t("first.drop"))), load, sending.element, done);
}
