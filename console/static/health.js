// How the server is: what it says of itself and of its queues.

import { APIError, address } from "./api.js";

/**
 * @typedef {object} Readiness (schema Readiness)
 * @property {string} status
 * @property {{name: string, status: "up" | "down", next?: string}[]} dependencies
 * @property {{embeddedWith: string, configured: string, documents: number, reindexing?: number}[]} [staleEmbeddings]
 * @property {{model: string, message: string}[]} [uncomparedEmbeddings]
 * @property {{code: "full" | "read_only", freeBytes: number, neededBytes: number, message: string, refusesQuestions?: boolean}} [diskProblem]
 * @property {{provider: string, kind: string, outcome: string, seconds: number, at: string}[]} [models]
 * @property {boolean} [indexIncomplete]
 * @property {{freeBytes: number, usedBytes: Record<string, number>}} [disk]
 */

/**
 * @typedef {object} Health
 * @property {Readiness} state
 * @property {{name: string, tasks: number}[]} queues
 * @property {string} version "" = the server does not tell
 * @property {number} apart seconds between the clock of the server and this one
 */

/**
 * Reads the health of the server, also of one that is not ready.
 * @returns {Promise<Health>}
 */
export async function readHealth() {
  const [ready, metrics] = await Promise.all([fetch(address("readiness", {}, { verbose: true })), fetch(address("metrics"))]).catch(() => {
    throw new APIError("", "network", 0);
  });
  const text = metrics.ok ? await metrics.text() : "";
  const at = Date.parse(ready.headers.get("Date") ?? "");
  return {
    state: await ready.json(),
    queues: [...text.matchAll(/^cairn_queue_tasks\{.*?queue="([^"]*)".*?\} (\S+)$/gm)].map(([, name, tasks]) => ({ name, tasks: Number(tasks) })),
    version: text.match(/^cairn_build_info\{.*?\bversion="([^"]*)"/m)?.[1] ?? "",
    apart: Number.isNaN(at) ? 0 : Math.abs(Date.now() - at) / 1000,
  };
}
