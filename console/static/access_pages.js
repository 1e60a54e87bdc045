// Which of the pages of people and rights somebody may open.

import { may } from "./api.js";

/** The pages, each with the permission that it needs, in the order of their tabs. */
export const accessPages = /** @type {const} */ ([
  ["members", "members.read"],
  ["roles", "roles.read"],
  ["grants", "grants.read"],
  ["holds", "holds.read"],
  ["retention", "projects.admin"],
  ["audit", "audit.read"],
]);

/** Returns the pages that are for this reader. */
export function allowedPages() {
  return accessPages.filter(([, permission]) => may(permission)).map(([name]) => name);
}
