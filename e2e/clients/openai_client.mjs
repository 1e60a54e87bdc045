// A whole conversation of OpenAI's JavaScript client with a server.
//
// The environment has OPENAI_BASE_URL and OPENAI_API_KEY, and in OPENAI_PACKAGE the
// folder in which the client is installed. The project "default" has a document that says
// what is on the northern pier.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const OpenAI = createRequire(process.env.OPENAI_PACKAGE + "/")("openai");
const client = new OpenAI({ maxRetries: 0, timeout: 60_000 });
const project = "project:default";
const question = "What is on the northern pier?";

const models = [];
for await (const model of client.models.list()) models.push(model.id);
assert(models.includes(project), models.join());
const [chat, embedding] = models;

// A model alone: whole, streamed, with a tool.
const messages = [{ role: "user", content: "Hello" }];
const answer = await client.chat.completions.create({ model: chat, messages, seed: 1 });
assert(answer.choices[0].message.content && answer.usage.total_tokens);
let text = "";
let usage;
for await (const chunk of await client.chat.completions.create({ model: chat, messages, stream: true, stream_options: { include_usage: true } })) {
  for (const choice of chunk.choices) text += choice.delta.content ?? "";
  usage = chunk.usage ?? usage;
}
assert.equal(text, answer.choices[0].message.content);
assert(usage.completion_tokens);
const weather = { type: "function", function: { name: "weather", parameters: { type: "object", properties: { query: { type: "string" } } } } };
const called = await client.chat.completions.create({ model: chat, messages, tools: [weather], tool_choice: "required" });
assert.equal(called.choices[0].message.tool_calls[0].function.name, "weather");

// A project: with its citations.
const asked = [...messages, { role: "assistant", content: "Good day." }, { role: "user", content: question }];
const { message } = (await client.chat.completions.create({ model: project, messages: asked })).choices[0];
assert.match(message.content, /lighthouse.*\[1\]/s);
assert.equal(message.annotations[0].url_citation.title, "pier.txt");
let streamed = "";
for await (const chunk of await client.chat.completions.create({ model: project, messages: asked, stream: true })) {
  streamed += chunk.choices[0].delta.content ?? "";
}
assert(streamed.endsWith(message.content), streamed);

// Embeddings: the client asks for base64 by itself.
const vectors = await client.embeddings.create({ model: embedding, input: ["one", "two"] });
assert(vectors.data.length === 2 && vectors.data[0].embedding.length > 100);
assert.equal((await client.embeddings.create({ model: embedding, input: "one", dimensions: 64 })).data[0].embedding.length, 64);

// Errors have the classes that the client knows.
await assert.rejects(client.chat.completions.create({ model: "nope", messages }), OpenAI.NotFoundError);
await assert.rejects(client.embeddings.create({ model: embedding, input: [[1, 2]] }), OpenAI.UnprocessableEntityError);
await assert.rejects(client.withOptions({ apiKey: "nope" }).models.list(), OpenAI.AuthenticationError);

// Responses: whole, streamed, in the background, and followed from where a client stopped.
const response = await client.responses.create({ model: chat, input: question, tools: [{ type: "file_search", vector_store_ids: ["default"] }] });
assert.match(response.output_text, /lighthouse/);
assert.equal(response.output.at(-1).content[0].annotations[0].filename, "pier.txt");
const events = [];
for await (const event of await client.responses.create({ model: project, input: question, stream: true, background: true })) events.push(event);
assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
assert.equal(events.at(-1).type, "response.completed");
const rest = [];
for await (const event of await client.responses.retrieve(events.at(-1).response.id, { stream: true, starting_after: 2 })) rest.push(event);
assert.deepEqual(rest.map((e) => e.sequence_number), events.slice(3).map((e) => e.sequence_number));
const inputItems = [];
for await (const item of client.responses.inputItems.list(response.id)) inputItems.push(item.content[0].text);
assert.deepEqual(inputItems, [question]);
await assert.rejects(client.responses.create({ model: project, input: question, reasoning: { effort: "low" } }), OpenAI.UnprocessableEntityError);
const background = await client.responses.create({ model: project, input: "And on the southern one?", background: true, previous_response_id: response.id });
let status = background.status;
for await (const event of await client.responses.retrieve(background.id, { stream: true })) status = event.type;
assert.equal(status, "response.completed");
assert.equal((await client.responses.retrieve(background.id)).status, "completed");

// Files and vector stores: a project of its own, filled, polled, searched and asked.
const store = await client.vectorStores.create({ name: "Harbour of JavaScript" });
const file = await OpenAI.toFile(Buffer.from("The eastern mole has a crane. It is painted blue."), "mole.txt");
const uploaded = await client.files.create({ file, purpose: "assistants" });
assert.match(await (await client.files.content(uploaded.id)).text(), /^The eastern/);
const added = await client.vectorStores.files.createAndPoll(store.id, { file_id: uploaded.id, attributes: { side: "east" } }, { pollIntervalMs: 100 });
assert.equal(added.status, "completed");
const buoys = await client.vectorStores.fileBatches.uploadAndPoll(store.id, {
  files: [await OpenAI.toFile(Buffer.from("Buoy 1 is green."), "buoy1.txt"), await OpenAI.toFile(Buffer.from("Buoy 2 is red."), "buoy2.txt")],
}, { pollIntervalMs: 100 });
assert.equal(buoys.file_counts.completed, 2);
const found = await client.vectorStores.search(store.id, { query: "What is on the eastern mole?", filters: { type: "eq", key: "side", value: "east" } });
assert.equal(found.data[0].file_id, uploaded.id);
const told = await client.responses.create({ model: chat, input: "What is on the eastern mole?", tools: [{ type: "file_search", vector_store_ids: [store.id] }] });
assert.match(told.output_text, /crane/);
assert.equal(told.output.at(-1).content[0].annotations[0].file_id, uploaded.id);
assert((await client.vectorStores.files.delete(uploaded.id, { vector_store_id: store.id })).deleted);
assert((await client.files.delete(uploaded.id)).deleted);
assert.deepEqual(await client.vectorStores.delete(store.id), { id: store.id, object: "vector_store.deleted", deleted: true });
await assert.rejects(client.vectorStores.retrieve(store.id), OpenAI.NotFoundError);

console.log("done");
