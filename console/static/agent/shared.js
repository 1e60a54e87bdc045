// Conversations that are shared by a link.

import { call } from "../api.js";
import { actionButton, attempt } from "../action.js";
import { fill, h, openDialog } from "../dom.js";
import { inLanguage, moment, t } from "../language.js";
import { agent as words } from "../words/agent.js";
import { turnsOf } from "./chat.js";
import { routes } from "./visitor.js";

/**
 * A link to a conversation (schema AgentShared).
 * @typedef {object} Link
 * @property {string} id
 * @property {string} url
 * @property {string} expires_at
 */

/**
 * Asks how long a conversation is to be shared, shows the link, and lists the links that there
 * are, each with a button that withdraws it.
 * @param {string} conversation
 */
export function shareDialog(conversation) {
  const days = h("input", { type: "number", min: 1, max: 365, value: 7 });
  const place = h("div", { role: "status" });
  const links = h("ul", { class: "links", "aria-label": inLanguage(words["share.links"]) });
  const list = async () => {
    const { data } = await call(routes.shares, { path: { conversation } });
    fill(links, ...data.map((/** @type {Link} */ link) => h("li", { class: "row" },
      h("a", { href: link.url, target: "_blank", rel: "noopener" }, inLanguage(words["share.until"], { until: moment(link.expires_at) })),
      h("span", { class: "space" }), actionButton(inLanguage(words["share.withdraw"]), () => withdraw(link)))));
  };
  const withdraw = async (/** @type {Link} */ link) => {
    await call(routes.withdraw, { path: { conversation, share: link.id } });
    fill(place, h("p", {}, inLanguage(words["share.withdrawn"])));
    await list();
    days.focus();
  };
  const make = async () => {
    const made = await call(routes.share, { path: { conversation }, body: { days: Number(days.value) } });
    const link = h("input", { readonly: true, value: made.url, "aria-label": inLanguage(words["share.link"]) });
    fill(place, h("p", {}, inLanguage(words["share.made"], { until: moment(made.expires_at) })), link);
    await list();
    link.select();
  };
  const dialog = openDialog(inLanguage(words.share), h("h2", {}, inLanguage(words.share)), h("div", { class: "stacked" },
    h("label", {}, inLanguage(words["share.days"]), days), place, links,
    h("div", { class: "row" }, actionButton(inLanguage(words["share.make"]), make, { class: "first" }), h("button", { type: "button", onclick: () => dialog.close() }, t("close")))));
  void attempt(list);
}

/**
 * Shows a shared conversation.
 * @param {HTMLElement} main
 * @param {HTMLElement} head
 * @param {string} share the token of the link
 */
export async function showShared(main, head, share) {
  const found = await call(routes.shared, { path: { share } });
  fill(main, h("div", { class: "agent" }, head,
    h("div", { class: "turns" }, h("p", { class: "quiet" }, inLanguage(words.shared, { until: moment(found.expires_at) })),
      ...turnsOf(found.messages.map((/** @type {any} */ one) => ({ ...one, run_id: null })))),
    h("p", { class: "composer" }, h("a", { href: location.pathname }, inLanguage(words["shared.ask"])))));
}
