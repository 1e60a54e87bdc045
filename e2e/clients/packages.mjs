// Loads the packages that .ci/stand-ins installed, from wherever that is.
import { createRequire } from "node:module";

export const load = createRequire(process.env.CLIENTS + "/package.json");

export function check(ok, what) {
  if (ok) return;
  console.error("failed:", JSON.stringify(what));
  process.exit(1);
}

export const { CAIRN_URL: url, CAIRN_KEY: key } = process.env;

// ask starts a question whose events are read by another way, and returns the answer of
// the API with the address of the events.
export async function ask(body) {
  const res = await fetch(`${url}/workspaces/default/webhooks/query`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ projectId: "default", stream: true, ...body }),
  });
  check(res.status === 202, await res.clone().text());
  const events = new URL(res.headers.get("Cairn-Events-Url"), url).href;
  return { ...(await res.json()), events };
}
