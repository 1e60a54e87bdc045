// Follows the runs of a conversation by Temporal's own client of Workflow Streams. A run's
// last items come in the moment in which its workflow ends, and polls with it: the query
// cairn_events has what a client then lacks.
import { ask, check, load, url, key } from "./packages.mjs";

const { Client, Connection, defaultPayloadConverter } = load("@temporalio/client");
const { temporal: protocol } = load("@temporalio/proto");
const { WorkflowStreamClient } = load("@temporalio/workflow-streams/client");

const connection = await Connection.connect({ address: process.env.TEMPORAL });
const temporal = new Client({ connection, namespace: "cairn" });
let conversation;
for (const text of ["What is on the pier?", "And who keeps it?"]) {
  const { runId } = await ask({ text, conversationId: conversation });
  const stream = WorkflowStreamClient.create(temporal, `query/default/${runId}`);
  const topics = [];
  let words = "";
  const take = (item) => {
    check(item.offset === topics.length, item);
    topics.push(item.topic);
    if (item.topic === "messageReset") words = "";
    words += item.data.text ?? "";
    return item.topic === "completed";
  };
  for await (const item of stream.subscribe(undefined, 0, { resultType: true })) {
    if (take(item)) break;
  }
  check(topics.length > 3, topics); // it was followed while it ran
  const { items } = await temporal.workflow.getHandle(`query/default/${runId}`).query("cairn_events", { topics: [], from_offset: topics.length });
  for (const { topic, offset, data } of items) {
    const payload = protocol.api.common.v1.Payload.decode(Buffer.from(data, "base64"));
    take({ topic, offset, data: defaultPayloadConverter.fromPayload(payload) });
  }
  check(topics[0] === "runStarted" && topics.at(-1) === "completed", topics);
  const res = await fetch(`${url}/runs/${runId}`, { headers: { Authorization: `Bearer ${key}` } });
  const { result } = await res.json();
  check(words === result.answer, [words, result]);
  conversation = result.conversationId;
}
await connection.close();
console.log("done");
