// A call of a tool within an answer, and the decision that it may wait for.

import { actionButton } from "./action.js";
import { call } from "./api.js";
import { h } from "./dom.js";
import { duration, t } from "./language.js";

/**
 * Shows the state of a call; an earlier state of it is replaced.
 * @param {HTMLElement} calls
 * @param {string} run
 * @param {{id: string, name: string, arguments: any, status: "waiting" | "started" | "completed" | "failed" | "refused", summary: string, seconds?: number, files?: {name: string, url: string}[]}} data
 */
export function toolCall(calls, run, data) {
  const earlier = [...calls.children].find((one) => /** @type {HTMLElement} */ (one).dataset.call === data.id);
  const open = earlier instanceof HTMLDetailsElement && earlier.open;
  const given = typeof data.arguments === "string" ? data.arguments : JSON.stringify(data.arguments, null, 2);
  const element = h("details", { class: `call ${data.status}`, "data-call": data.id, open: open || data.status === "waiting" },
    h("summary", {}, t("ask.tool", { name: data.name, status: t(`ask.tool.${data.status}`) }), data.seconds !== undefined && h("span", { class: "quiet" }, " ", duration(data.seconds))),
    h("pre", { tabindex: 0, role: "group", "aria-label": data.name }, given),
    data.summary && h("p", {}, data.summary),
    ...(data.files ?? []).map((file) => h("p", {}, h("a", { href: file.url, target: "_blank", rel: "noopener" }, file.name))),
    data.status === "waiting" && decision(run, data.id));
  if (earlier) earlier.replaceWith(element);
  else calls.append(element);
}

/**
 * @param {string} run
 * @param {string} id of the call
 */
function decision(run, id) {
  const reason = h("input", { "aria-label": t("ask.reason"), placeholder: t("ask.reason"), maxlength: 1000 });
  const decide = (/** @type {string} */ word) => async () => {
    await call("workspace-decide-call", { path: { run_id: run, call: id }, body: { decision: word, reason: reason.value || undefined } });
  };
  return h("div", { class: "row" }, reason,
    actionButton(t("ask.approve"), decide("approve"), { class: "first" }), actionButton(t("ask.refuse"), decide("refuse")));
}
