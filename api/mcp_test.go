package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// keyed sends requests with a key.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("knowledge-project-apikey", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// connectMCP connects to /mcp. Progress goes to the channel, which may be nil.
func (e *edge) connectMCP(url, key string, progress chan<- string) *mcp.ClientSession {
	e.t.Helper()
	o := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		progress <- r.Params.Message
	}}
	transport := &mcp.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: keyed(key)}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(e.t.Context(), transport, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool and returns its text and its object.
func call(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, object map[string]any, failed bool) {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken("progress of " + tool)
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	object, _ = result.StructuredContent.(map[string]any)
	return result.Content[0].(*mcp.TextContent).Text, object, result.IsError
}

// answering makes every run end with an answer that cites one passage, after these entries
// of its log.
func (e *edge) answering(document string, before ...stream.Entry) {
	e.work.end = func(in record.AnswerInput) error {
		result := record.Answer{
			MessageID: in.MessageID, ConversationID: in.ConversationID, ExecutionID: in.ExecutionID, Model: "m",
			Answer:  `It is <citation id="c">[1]</citation>.`,
			Sources: []record.Source{{Rank: 1, ChunkID: knowledge.ChunkID(document, 1, 0), DocumentID: document}}, Used: []int{1},
		}
		key := "answers/" + in.Run
		_, err := e.blobs.PutJSON(e.t.Context(), key, result)
		if err != nil {
			return err
		}
		topic, first := stream.TopicCompleted, record.QueryStarted(in)
		if in.MessageID == "" {
			topic, first = stream.TopicToolEnd, record.ToolStarted(in)
		}
		entries := append(append([]stream.Entry{first}, before...), must(stream.NewEntry(stream.TopicDelta, stream.Event{Text: "It is"})), must(stream.NewEntry(topic, stream.Event{Ref: key})))
		for i, entry := range entries {
			e.logs[in.Run] = append(e.logs[in.Run], stream.Item{Topic: entry.Topic, Data: entry.Data, Offset: int64(i)})
		}
		return e.store.EndRun(e.t.Context(), in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunCompleted, At: time.Now(), ResultKey: key})
	}
}

func TestMCPShowsWhatARunDoes(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "guide.txt", "one")
	e.publish(id, knowledge.Chunk{Text: "How it is."})
	shown := func(data string) stream.Entry {
		return must(stream.NewEntry(stream.TopicToolEvent, stream.Event{Data: stream.Data(record.ToolEventData{ID: "c", Event: "tool_update", Data: []byte(data)})}))
	}
	e.answering(id,
		shown(`{"phase":"SCRAPING_URLS","status":"started","data":{"url_count":3}}`), shown(`{"reranked_results":3,"output_key":"reranked_results"}`),
		must(stream.NewEntry(stream.TopicModelFailed, stream.Event{Data: stream.Data(record.ModelFailed{Model: "large", Next: "small"})})),
	)
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	progress := make(chan string, 100)
	call(t, e.connectMCP(server.URL, e.reader, progress), "ask_project", map[string]any{"question": "How is it?", "project_id": "default"})
	<-progress // the run started
	for _, want := range []string{"scraping urls started", "large failed, asking small", "writing the answer: 5 characters"} {
		if got := <-progress; got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	}
}

func TestMCP(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "guide.txt", "one", map[string]any{"tags": []string{"t"}})
	e.publish(id, knowledge.Chunk{Text: "How it is."})
	e.answering(id)
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	progress := make(chan string, 100)
	session := e.connectMCP(server.URL, e.reader, progress)

	t.Run("it has five tools with schemas", func(t *testing.T) {
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.InputSchema == nil || tool.OutputSchema == nil || tool.Description == "" {
				t.Errorf("%s: %+v", tool.Name, tool)
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff([]string{"ask_project", "get_chunk", "list_documents", "rag_search", "web_search"}, names); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("ask_project starts a normal run, shows its progress and answers", func(t *testing.T) { wantProgressAndAnswer(t, session, id, e, progress) })
	t.Run("rag_search gives the object of its route", func(t *testing.T) {
		_, object, failed := call(t, session, "rag_search", map[string]any{"query": "How is it?"})
		if failed || object["response"] == "" || len(object["contexts"].([]any)) != 1 || !strings.HasPrefix(object["execution_id"].(string), "call_") {
			t.Errorf("%v %v", failed, object)
		}
	})
	t.Run("list_documents and get_chunk read what the key may read", func(t *testing.T) {
		_, list, failed := call(t, session, "list_documents", map[string]any{"tags": []string{"t"}})
		if failed || list["total"] != 1.0 || list["documents"].([]any)[0].(map[string]any)["name"] != "guide.txt" {
			t.Errorf("%v %v", failed, list)
		}
		text, chunk, failed := call(t, session, "get_chunk", map[string]any{"chunk_id": knowledge.ChunkID(id, 1, 0)})
		if failed || text != "How it is.\n\nFrom guide.txt" || chunk["document_id"] != id {
			t.Errorf("%v %s %v", failed, text, chunk)
		}
	})
	t.Run("what the API refuses is the error of the tool", func(t *testing.T) {
		for tool, arguments := range map[string]map[string]any{
			"get_chunk":   {"chunk_id": "nope"},
			"ask_project": {"question": "", "project_id": "default"},
			"rag_search":  {"query": "a", "project_id": "nope"},
			"web_search":  {"query": 7},
		} {
			if text, _, failed := call(t, session, tool, arguments); !failed || text == "" {
				t.Errorf("%s: %v %q", tool, failed, text)
			}
		}
		stranger := e.connectMCP(server.URL, e.stranger, progress)
		if text, _, failed := call(t, stranger, "get_chunk", map[string]any{"chunk_id": knowledge.ChunkID(id, 1, 0)}); !failed || !strings.HasPrefix(text, "not_found") {
			t.Errorf("a key of another workspace: %v %q", failed, text)
		}
	})
	t.Run("every request is authenticated", func(t *testing.T) {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			e.do(method, "/mcp", "", `{}`, "Mcp-Session-Id", session.ID()).refused(401, knowledge.CodeUnauthorized)
		}
		e.do("PUT", "/mcp", e.reader, `{}`).refused(405, knowledge.CodeMethodNotAllowed)
	})
	t.Run("a session is known only to the caller that began it", func(t *testing.T) { wantSessionOfItsCaller(t, e) })
	t.Run("no token of a link stands in for a key", func(t *testing.T) {
		if got := e.do("DELETE", "/mcp?token=x", "", nil, "Mcp-Session-Id", session.ID()); got.status/100 != 4 {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
	t.Run("a session that another process began is served without it", func(t *testing.T) {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_documents","arguments":{}}}`
		got := e.do("POST", "/mcp", e.reader, body, "Mcp-Session-Id", "elsewhere.1", "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-06-18")
		if got.status != http.StatusOK || !strings.Contains(string(got.body), "guide.txt") {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

func wantProgressAndAnswer(t *testing.T, session *mcp.ClientSession, id string, e *edge, progress chan string) {
	text, object, failed := call(t, session, "ask_project", map[string]any{"question": "How is it?", "project_id": "default"})
	want := "It is [1].\n\nSources:\n[1] guide.txt (chunk " + knowledge.ChunkID(id, 1, 0) + ")"
	if failed || text != want || object["answer"] != `It is <citation id="c">[1]</citation>.` {
		t.Fatalf("%v %q %v", failed, text, object)
	}
	run := object["runId"].(string)
	if got := e.do("GET", "/runs/"+run, e.reader, nil).want(200); got["kind"] != "query" || got["status"] != "completed" {
		t.Errorf("the run is %v", got)
	}
	if first := <-progress; first != "run "+run+" started" {
		t.Errorf("progress: %s", first)
	}
	if second := <-progress; second != "writing the answer: 5 characters" {
		t.Errorf("progress: %s", second)
	}
}

func wantSessionOfItsCaller(t *testing.T, e *edge) {
	headers := []string{"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-06-18"}
	begun := e.do("POST", "/mcp", e.reader, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, headers...)
	id := begun.header.Get("Mcp-Session-Id")
	if begun.status != http.StatusOK || id == "" {
		t.Fatalf("%d %s", begun.status, begun.body)
	}
	headers = append(headers, "Mcp-Session-Id", id)
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, key := range []string{e.editor, e.stranger, e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}})} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if got := e.do(method, "/mcp", key, ping, headers...); got.status != http.StatusNotFound {
				t.Fatalf("%s with another key: %d %s", method, got.status, got.body)
			}
		}
	}
	if got := e.do("POST", "/mcp", e.reader, ping, headers...); got.status != http.StatusOK {
		t.Errorf("POST of the session's caller: %d %s", got.status, got.body)
	}
	if got := e.do("DELETE", "/mcp", e.reader, "", headers...); got.status != http.StatusNoContent {
		t.Errorf("DELETE of the session's caller: %d %s", got.status, got.body)
	}
}

func TestACancelledMCPCallCancelsItsRun(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.end = func(record.AnswerInput) error { return nil } // it runs
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	progress := make(chan string, 100)
	session := e.connectMCP(server.URL, e.reader, progress)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() {
		params := &mcp.CallToolParams{Name: "ask_project", Arguments: map[string]any{"question": "Why?"}}
		params.SetProgressToken(1)
		_, err := session.CallTool(ctx, params)
		over <- err
	}()
	run := strings.TrimSuffix(strings.TrimPrefix(<-progress, "run "), " started")
	cancel()
	if err := <-over; err == nil {
		t.Error("the call ended without an error")
	}
	for e.cancelled() == nil {
		if t.Context().Err() != nil {
			t.Fatal("the run is not cancelled")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if diff := cmp.Diff([]string{run}, e.cancelled()); diff != "" {
		t.Error(diff)
	}
}

func (e *edge) cancelled() []string {
	e.work.mu.Lock()
	defer e.work.mu.Unlock()
	return slices.Clone(e.work.cancels)
}

func TestAStoppingServerEndsMCPCalls(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.end = func(record.AnswerInput) error { return nil } // it runs
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	progress := make(chan string, 100)
	session := e.connectMCP(server.URL, e.reader, progress)
	go func() {
		<-progress
		e.server.Stop()
	}()
	text, _, failed := call(t, session, "ask_project", map[string]any{"question": "Why?"})
	if !failed || !strings.HasPrefix(text, "unavailable") || len(e.cancelled()) != 0 {
		t.Errorf("%v %q, cancelled %v", failed, text, e.cancelled())
	}
}

// TestMCPForACustomer calls tools for a customer by both names.
func TestMCPForACustomer(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes.", Model: "m"})
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	session := e.connectMCP(server.URL, e.reader, make(chan string, 100))
	for tool, question := range map[string]string{"ask_project": "question", "rag_search": "query"} {
		for _, arguments := range []map[string]any{{"external_user_id": "ann"}, {"externalUserId": "ann"}, {"external_user_id": "ann", "externalUserId": "ann"}} {
			arguments[question] = "How is it?"
			if text, _, failed := call(t, session, tool, arguments); failed {
				t.Fatalf("%s %v: %s", tool, arguments, text)
			}
			if user := a.asked().Principal.ExternalUser(); user != "ann" {
				t.Errorf("%s %v acts for %q", tool, arguments, user)
			}
		}
		text, _, failed := call(t, session, tool, map[string]any{question: "How is it?", "external_user_id": "ann", "externalUserId": "bob"})
		if !failed || !strings.Contains(text, "external_user_id") || !strings.Contains(text, "externalUserId") {
			t.Errorf("%s for two customers: %s", tool, text)
		}
	}
}
