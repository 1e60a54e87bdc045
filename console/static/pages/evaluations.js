// The pages of evaluations: all of them, and one.

import { openEvaluation } from "../evaluation.js";
import { openEvaluations } from "../evaluations_list.js";

/** @type {import("../router.js").Open} */
export function open([id]) {
  return id ? openEvaluation(id) : openEvaluations();
}
