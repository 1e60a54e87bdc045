"""A whole conversation of OpenAI's Python client with a server.

The environment has OPENAI_BASE_URL and OPENAI_API_KEY. The project "default" has a
document that says what is on the northern pier.
"""

import base64

import openai

client = openai.OpenAI(max_retries=0, timeout=60)
PROJECT = "project:default"
QUESTION = "What is on the northern pier?"

models = [model.id for model in client.models.list()]
assert PROJECT in models, models
assert client.models.retrieve(PROJECT).id == PROJECT
chat, embedding = models[0], models[1]

# A model alone: whole, streamed, with a tool.
hello = [{"role": "user", "content": "Hello"}]
answer = client.chat.completions.create(model=chat, messages=hello, seed=1, max_completion_tokens=64)
assert answer.choices[0].message.content and answer.usage.total_tokens, answer
text, usage = "", None
for chunk in client.chat.completions.create(model=chat, messages=hello, stream=True, stream_options={"include_usage": True}):
    text += "".join(choice.delta.content or "" for choice in chunk.choices)
    usage = chunk.usage or usage
assert text == answer.choices[0].message.content and usage.completion_tokens, (text, usage)
weather = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}}
called = client.chat.completions.create(model=chat, messages=hello, tools=[weather], tool_choice="required")
assert called.choices[0].message.tool_calls[0].function.name == "weather", called

# A project: with its citations.
asked = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}, {"role": "user", "content": QUESTION}]
answer = client.chat.completions.create(model=PROJECT, messages=asked)
message = answer.choices[0].message
assert "lighthouse" in message.content and "[1]" in message.content and "<citation" not in message.content, message
assert message.annotations[0].url_citation.title == "pier.txt", message
assert "lighthouse" in message.citations[0]["text"], message
streamed = ""
for chunk in client.chat.completions.create(model=PROJECT, messages=asked, stream=True):
    streamed += chunk.choices[0].delta.content or ""
assert streamed.endswith(message.content), (streamed, message.content)

# Embeddings: the client asks for base64 by itself.
vectors = client.embeddings.create(model=embedding, input=["one", "two"])
assert len(vectors.data) == 2 and len(vectors.data[0].embedding) > 100 and vectors.usage.total_tokens, vectors
numbers = client.embeddings.create(model=embedding, input="one", encoding_format="float")
assert abs(numbers.data[0].embedding[0] - vectors.data[0].embedding[0]) < 1e-6
assert len(client.embeddings.create(model=embedding, input="one", dimensions=64).data[0].embedding) == 64

# Errors have the classes that the client knows.
for error, call in [
    (openai.NotFoundError, lambda: client.chat.completions.create(model="nope", messages=hello)),
    (openai.UnprocessableEntityError, lambda: client.embeddings.create(model=embedding, input=[[1, 2]])),
    (openai.UnprocessableEntityError, lambda: client.chat.completions.create(model=PROJECT, messages=hello, frequency_penalty=1)),
    (openai.UnprocessableEntityError, lambda: client.responses.create(model=PROJECT, input=QUESTION, reasoning={"effort": "low"})),
    (openai.AuthenticationError, lambda: client.with_options(api_key="nope").models.list()),
]:
    try:
        call()
        raise AssertionError(error)
    except error as refused:
        assert refused.body["message"], refused

# Responses: whole, streamed, in the background, and followed from where a client stopped.
search = [{"type": "file_search", "vector_store_ids": ["default"]}]
response = client.responses.create(model=chat, input=QUESTION, tools=search)
assert "lighthouse" in response.output_text and response.status == "completed", response
citation = response.output[-1].content[0].annotations[0]
assert citation.type == "file_citation" and citation.filename == "pier.txt", citation
assert client.responses.retrieve(response.id).output_text == response.output_text
asked_with = client.responses.input_items.list(response.id)
assert [item.content[0].text for item in asked_with] == [QUESTION], asked_with
detailed = client.responses.create(
    model=chat, input=QUESTION, instructions="Be brief.", truncation="auto", store=True, user="ann", parallel_tool_calls=True, tool_choice="auto", metadata={"a": "b"},
    include=["file_search_call.results"], tools=[{**search[0], "max_num_results": 3, "ranking_options": {"ranker": "auto", "score_threshold": 0.0}}],
)
assert detailed.status == "completed" and detailed.metadata == {"a": "b"} and "lighthouse" in detailed.output_text, detailed
note = [{"role": "user", "content": [
    {"type": "input_text", "text": "What is on the western pier?"},
    {"type": "input_file", "filename": "west.txt", "file_data": "data:text/plain;base64," + base64.b64encode(b"A windmill stands on the western pier.").decode()},
]}]
read = client.responses.create(model=PROJECT, input=note)
assert "windmill" in read.output_text and read.output[-1].content[0].annotations[0].filename == "west.txt", read
events = list(client.responses.create(model=PROJECT, input=QUESTION, stream=True, background=True))
assert [event.sequence_number for event in events] == list(range(len(events))), events
assert events[-1].type == "response.completed", events[-1]
final = events[-1].response
assert "".join(e.delta for e in events if e.type == "response.output_text.delta").endswith(final.output_text), final
rest = list(client.responses.retrieve(final.id, stream=True, starting_after=2))
assert [event.sequence_number for event in rest] == list(range(3, len(events))), rest
background = client.responses.create(model=PROJECT, input="And on the southern one?", background=True, previous_response_id=response.id)
assert background.status in ("queued", "in_progress"), background
last = list(client.responses.retrieve(background.id, stream=True))[-1]
assert last.type == "response.completed" and client.responses.retrieve(background.id).status == "completed", last

# Files and vector stores: a project of its own, filled, polled, searched and asked.
store = client.vector_stores.create(name="Harbour of Python")
uploaded = client.files.create(file=("mole.txt", b"The eastern mole has a crane. It is painted blue."), purpose="assistants")
assert client.files.content(uploaded.id).read().startswith(b"The eastern"), uploaded
assert uploaded.id in [file.id for file in client.files.list()]
added = client.vector_stores.files.create_and_poll(vector_store_id=store.id, file_id=uploaded.id, attributes={"side": "east"}, poll_interval_ms=100)
assert added.status == "completed" and added.attributes == {"side": "east"}, added
others = [client.files.create(file=(f"buoy{n}.txt", f"Buoy {n} is green.".encode()), purpose="assistants").id for n in (1, 2)]
batch = client.vector_stores.file_batches.create_and_poll(store.id, file_ids=others, poll_interval_ms=100)
assert batch.status == "completed" and batch.file_counts.completed == 2, batch
assert len(list(client.vector_stores.files.list(store.id, limit=2))) == 3
assert sorted(file.id for file in client.vector_stores.file_batches.list_files(batch.id, vector_store_id=store.id)) == sorted(others)
assert client.vector_stores.files.update(others[0], vector_store_id=store.id, attributes={"colour": "green"}).attributes == {"colour": "green"}
found = client.vector_stores.search(store.id, query="What is on the eastern mole?", max_num_results=3, filters={"type": "eq", "key": "side", "value": "east"})
assert found.data[0].file_id == uploaded.id and "crane" in found.data[0].content[0].text, found
answer = client.responses.create(model=chat, input="What is on the eastern mole?", tools=[{"type": "file_search", "vector_store_ids": [store.id]}])
assert "crane" in answer.output_text and answer.output[-1].content[0].annotations[0].file_id == uploaded.id, answer
assert client.vector_stores.files.delete(uploaded.id, vector_store_id=store.id).deleted
assert client.files.delete(uploaded.id).deleted
assert client.vector_stores.retrieve(store.id).name == "Harbour of Python"
gone = client.vector_stores.delete(store.id)
assert gone.deleted and gone.id == store.id and gone.object == "vector_store.deleted", gone
try:
    client.vector_stores.retrieve(store.id)
    raise AssertionError("a deleted vector store was found")
except openai.NotFoundError as refused:
    assert refused.body["message"], refused

print("done")
