// Who asks an agent: what this browser keeps of a visitor, and the routes that are open to one.

import { APIError, call, useDoor, useSession } from "../api.js";

const [, slug = "", place = ""] = location.pathname.slice(1).split("/").map(decodeURIComponent);
const path = "/agents/" + encodeURIComponent(slug);

/** Whether the page is in a frame of another one. */
export const inFrame = place === "frame";

/** @typedef {import("../api.js").Route} Route */

/** The routes of the agent. */
export const routes = /** @type {const} */ ({
  agent: ["GET", path],
  avatar: ["GET", path + "/avatar"],
  visit: ["POST", path + "/visits"],
  ask: ["POST", path + "/questions"],
  conversation: ["GET", path + "/conversations/{conversation}"],
  share: ["POST", path + "/conversations/{conversation}/shares"],
  shares: ["GET", path + "/conversations/{conversation}/shares"],
  withdraw: ["DELETE", path + "/conversations/{conversation}/shares/{share}"],
  shared: ["GET", path + "/shared/{share}"],
});

/** What the modules of an answer call, at the agent. */
const instead = {
  "workspace-run-events": ["GET", path + "/runs/{run_id}/events"],
  "workspace-cancel-run": ["POST", path + "/runs/{run_id}/cancel"],
  "give-feedback": ["POST", path + "/runs/{run_id}/feedback"],
};

/**
 * @typedef {object} Kept
 * @property {string} [token] of an anonymous visitor
 * @property {string} [conversation] that was open last
 */

const name = "cairn.agent." + slug;

/** Returns what this browser keeps. @returns {Kept} */
export function kept() {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "{}");
  } catch {
    return {}; // a browser that stores nothing
  }
}

/** @param {Kept} change */
export function keep(change) {
  try {
    localStorage.setItem(name, JSON.stringify({ ...kept(), ...change }));
  } catch {
    // A browser that stores nothing: it is for this page alone.
  }
}

/** @param {string} token that a visitor sends; "" = none */
function send(token) {
  useDoor(token ? { Authorization: "Bearer " + token } : {}, instead);
}

/**
 * Becomes the visitor whom a token names, or else the anonymous one of this browser.
 * @param {string} visibility of the agent
 * @param {string} token that the page around this one was given; "" = none
 */
export async function become(visibility, token) {
  useSession({ user: "", workspace: "", permissions: [], clearance: "", levels: [], baseLevel: "" }, () => {});
  if (token || visibility !== "public") return send(token);
  send(kept().token || await visit());
}

/** Returns the token of a new visitor. */
async function visit() {
  const { token } = await call(routes.visit);
  keep({ token, conversation: "" });
  return token;
}

/**
 * Calls the agent. An anonymous visitor whose token has expired becomes a new one.
 * @param {Route} route
 * @param {Parameters<typeof call>[1]} options
 * @param {boolean} anonymous
 */
export async function callAgent(route, options, anonymous) {
  try {
    return await call(route, options);
  } catch (failure) {
    if (!anonymous || !(failure instanceof APIError) || failure.status !== 401) throw failure;
    send(await visit());
    return call(route, options);
  }
}
