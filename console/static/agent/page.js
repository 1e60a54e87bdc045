// The page of an agent: at an address of its own, and in a frame of another page.

import { APIError, call, reasonOf } from "../api.js";
import { fill, h } from "../dom.js";
import { inLanguage, language, t } from "../language.js";
import { applyTheme } from "../preferences.js";
import { agent as words } from "../words/agent.js";
import { chat } from "./chat.js";
import { given, tell } from "./frame.js";
import { become, inFrame, routes } from "./visitor.js";

/** @typedef {import("./chat.js").Agent} Agent */

const main = h("main", { id: "main" });

/**
 * Returns the head of the page.
 * @param {Agent} agent
 * @param {...(Node | false)} buttons
 */
function head(agent, ...buttons) {
  const avatar = agent.has_picture
    ? h("img", { class: "avatar", src: routes.avatar[1], alt: "" })
    : agent.avatar !== "" && h("span", { class: "avatar", "aria-hidden": "true" }, agent.avatar);
  return h("header", {}, avatar, h("h1", {}, agent.title), ...buttons);
}

/** Signs in, if the agent is one of a workspace. */
async function signIn() {
  if (inFrame) {
    fill(main, h("div", { class: "padded" }, h("p", {}, inLanguage(words.sign_in)),
      h("a", { href: location.pathname.replace(/\/frame$/, ""), target: "_blank", rel: "noopener" }, inLanguage(words["sign_in.apart"]))));
    return;
  }
  const { methods } = await call("get-session");
  const module = await import("../sign_in.js");
  await module.signIn(inLanguage(words.sign_in), methods);
  location.reload();
}

async function start() {
  applyTheme();
  document.documentElement.lang = language();
  document.body.replaceChildren(main, h("p", { id: "said", role: "status", class: "unseen" }));
  /** @type {HTMLTextAreaElement | undefined} */
  let field;
  if (inFrame) addEventListener("message", ({ source, data }) => source === parent && data?.cairn === "focus" && field?.focus());
  const { token } = inFrame ? await given() : { token: "" };
  /** @type {Agent} */
  let agent;
  try {
    agent = await call(routes.agent);
  } catch (failure) {
    if (failure instanceof APIError && failure.status === 401) return signIn();
    fill(main, h("p", { class: "padded", role: "alert" }, failure instanceof APIError && failure.status === 404 ? inLanguage(words.none) : reasonOf(failure)));
    return;
  }
  document.title = agent.title;
  const share = new URLSearchParams(location.hash.slice(1)).get("share");
  if (share) {
    const { showShared } = await import("./shared.js");
    return showShared(main, head(agent), share);
  }
  await become(agent.visibility, token);
  const talk = chat(agent, agent.visibility === "public" && token === "");
  fill(main, h("div", { class: "agent" },
    head(agent, h("button", { type: "button", onclick: talk.clear }, inLanguage(words.new)), sharing(agent, talk),
      inFrame && h("button", { type: "button", class: "plain", "aria-label": inLanguage(words.close), onclick: () => tell("close") }, "×")),
    talk.turns, talk.form));
  await talk.resume();
  field = talk.field;
  if (!inFrame) field.focus();
  else addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && !document.querySelector("dialog") && tell("close"));
}

/**
 * Returns the button that makes a link to the conversation; false if there can be none.
 * @param {Agent} agent
 * @param {ReturnType<typeof chat>} talk
 */
function sharing(agent, talk) {
  if (agent.visibility !== "public") return false;
  return h("button", { type: "button", onclick: async () => {
    if (talk.conversation()) (await import("./shared.js")).shareDialog(talk.conversation());
  } }, inLanguage(words.share));
}

start().catch((failure) => fill(main, h("div", { class: "padded", role: "alert" }, h("p", {}, reasonOf(failure)), h("button", { type: "button", onclick: () => location.reload() }, t("retry")))))
  .finally(() => inFrame && tell("shown"));
