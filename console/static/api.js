// The client of the API.

import { t } from "./language.js";
import { routes } from "./routes.js";

/** @typedef {import("./routes.js").Route | readonly [string, string]} Route a name of routes.js, or a method and a path */

/** A refusal of the API, or a failure to reach it. */
export class APIError extends Error {
  /**
   * @param {string} message for people
   * @param {string} code of docs/errors.md; "network" = there was no answer
   * @param {number} status 0 = there was no answer
   * @param {{location: string, message: string}[]} [fields] that are wrong
   */
  constructor(message, code, status, fields = []) {
    super(message);
    this.code = code;
    this.status = status;
    this.fields = fields;
  }
}

/** Throws that there was no answer. @returns {never} */
function unanswered() {
  throw new APIError(t("error.network"), "network", 0);
}

/**
 * Returns why something failed, in words for people, and logs a fault of the console itself.
 * @param {unknown} failure
 */
export function reasonOf(failure) {
  if (failure instanceof APIError) return failure.message;
  const message = failure instanceof Error ? failure.message : String(failure);
  if (/module script|dynamically imported module/i.test(message)) return t("error.network"); // as each browser says that it did not get one
  console.error(failure);
  return t("error.fault", { message });
}

/**
 * Who is signed in (schema SessionView).
 * @typedef {object} Session
 * @property {string} user
 * @property {string} workspace
 * @property {string[]} permissions
 * @property {string} clearance
 * @property {string[]} levels of classification, the lowest first
 * @property {string} baseLevel of documents without a classification
 */

/** @type {{who: Session, ended: () => void}} */
const session = { who: { user: "", workspace: "default", permissions: [], clearance: "", levels: [], baseLevel: "" }, ended: () => {} };

/**
 * Sets who makes all requests, and what is called when the session has ended.
 * @param {Session} who
 * @param {() => void} ended
 */
export function useSession(who, ended) {
  session.who = who;
  session.ended = ended;
}

/** Returns who is signed in. */
export function signedIn() {
  return session.who;
}

/** Reports whether who is signed in has a permission. @param {string} permission */
export function may(permission) {
  return session.who.permissions.includes(permission);
}

/** How requests reach the API: their headers, and other routes for some names. */
const door = { headers: {}, routes: /** @type {Record<string, readonly string[]>} */ ({}) };

/** @param {Record<string, string>} headers @param {Record<string, readonly string[]>} routes */
export function useDoor(headers, routes) {
  Object.assign(door, { headers, routes });
}

/** Returns the headers of all requests. @returns {Record<string, string>} */
export const doorHeaders = () => door.headers;

/** @typedef {Record<string, string | number | boolean | string[] | undefined>} Query */

/** Returns the method and the path of a route. @param {Route} name */
const placeOf = (name) => (typeof name === "string" ? door.routes[name] ?? routes[name] : name);

/**
 * Returns the address of a route.
 * @param {Route} name
 * @param {Record<string, string | number>} [path] values of its path
 * @param {Query} [query] undefined, false and "" leave a parameter out
 */
export function address(name, path = {}, query = {}) {
  /** @type {Record<string, string | number>} */
  const values = { workspaceId: session.who.workspace, ...path };
  const filled = placeOf(name)[1].replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(values[key]));
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(key, String(one));
  }
  return parameters.size ? `${filled}?${parameters}` : filled;
}

/**
 * Calls a route and returns its answer; null if it has none. A POST with a key is done once,
 * however often it is sent with that key. A change with a match is refused when what it
 * changes was changed since that time; "" = when it is there already.
 * @param {Route} name
 * @param {{path?: Record<string, string | number>, query?: Query, body?: any, key?: string, match?: string}} [options]
 * @returns {Promise<any>}
 */
export async function call(name, { path, query, body, key, match } = {}) {
  const form = body instanceof FormData || body instanceof Blob; // the browser sets its Content-Type
  const answer = await fetch(address(name, path, query), {
    method: placeOf(name)[0],
    headers: { ...door.headers, ...(body === undefined || form ? {} : { "Content-Type": "application/json" }), ...(key ? { "Idempotency-Key": key } : {}), ...(match ? { "If-Match": `"${match}"` } : match === "" ? { "If-None-Match": "*" } : {}) },
    body: form ? body : JSON.stringify(body),
  }).catch(unanswered);
  if (!answer.ok) throw await refusal(answer, name);
  return answer.status === 204 ? null : answer.json().catch(unanswered);
}

/**
 * Reads what the API says of a request that it refused.
 * @param {Response} answer
 * @param {Route} [name]
 * @returns {Promise<APIError>}
 */
export async function refusal(answer, name) {
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401 && name !== "sign-in") session.ended();
  const details = (problem.errors ?? []).map((/** @type {any} */ e) => `${e.location}: ${e.message}`);
  const message = [problem.detail || `HTTP ${answer.status}`, ...details].join("\n");
  return new APIError(message, problem.code ?? "", answer.status, problem.errors ?? []);
}

/**
 * Reads what is not JSON.
 * @param {string} url
 */
export async function read(url) {
  const answer = await fetch(url).catch(unanswered);
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/** Returns a key of call that no other request has. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
