// The pages of runs: all of them, and one.

import { openRun } from "../run.js";
import { openRuns } from "../runs_list.js";

/** @type {import("../router.js").Open} */
export function open([id], query) {
  return id ? openRun(id) : openRuns(query);
}
