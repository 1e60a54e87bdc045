// Which page an address shows. Each page is a module that is loaded when it is first opened.

/**
 * A page that is open.
 * @typedef {object} Page
 * @property {string} title
 * @property {HTMLElement} element
 * @property {() => void} [stop] ends what the page has under way
 */

/** @typedef {(path: string[], query: URLSearchParams) => Page | Promise<Page>} Open */

/** @type {Record<string, () => Promise<{open: Open}>>} */
const modules = {
  "": () => import("./pages/ask.js"),
  "ask": () => import("./pages/ask.js"),
  "documents": () => import("./pages/documents.js"),
  "runs": () => import("./pages/runs.js"),
  "projects": () => import("./pages/projects.js"),
  "keys": () => import("./pages/keys.js"),
  "evaluations": () => import("./pages/evaluations.js"),
  "imports": () => import("./pages/imports.js"),
  "syncs": () => import("./pages/syncs.js"),
  "operations": () => import("./pages/operations.js"),
  "usage": () => import("./pages/usage.js"),
  "audit": () => import("./pages/audit.js"),
  "members": () => import("./pages/members.js"),
  "roles": () => import("./pages/roles.js"),
  "grants": () => import("./pages/grants.js"),
  "holds": () => import("./pages/holds.js"),
  "retention": () => import("./pages/retention.js"),
};

/**
 * Returns the module of an address; undefined if there is no such page.
 * @param {string} first part of the path
 */
export function pageOf(first) {
  return modules[first]?.();
}

/** Goes to an address of the console. @param {string} path */
export function navigate(path) {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}

/**
 * Changes the address of the page that is open.
 * @param {string} path
 * @param {any} [state] that a reload of the page finds in history.state
 */
export function rename(path, state = null) {
  history.replaceState(state, "", path);
}

/**
 * Keeps the filters that are set in the address of the page that is open.
 * @param {string} path
 * @param {Record<string, string>} filters
 */
export function keepFilters(path, filters) {
  const set = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  rename(path + (set.size ? `?${set}` : ""));
}

/**
 * Makes clicks on links of the console open pages without loading it anew.
 * @param {MouseEvent} click
 */
export function followLink(click) {
  const link = /** @type {Element} */ (click.target).closest?.("a[href]");
  if (!link || click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return;
  const url = new URL(/** @type {HTMLAnchorElement} */ (link).href);
  const first = url.pathname.split("/")[1];
  if (url.origin !== location.origin || link.hasAttribute("target") || link.hasAttribute("download") || !(first in modules)) return;
  click.preventDefault();
  navigate(url.pathname + url.search);
}
