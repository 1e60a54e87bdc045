package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	pagebrowser "github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

var updateTranscripts = flag.Bool("update", false, "write the transcripts anew")

// searchEngine is a SearXNG instance that always has the same results.
type searchEngine struct {
	*httptest.Server
	asked   atomic.Int32
	results atomic.Pointer[[]map[string]any]
}

func newSearchEngine(t *testing.T) *searchEngine {
	t.Helper()
	e := &searchEngine{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"query": r.URL.Query().Get("q"), "results": *e.results.Load()})
	}))
	t.Cleanup(e.Close)
	e.set(
		map[string]any{"title": "Solid state batteries", "url": "https://example.com/batteries", "content": "Charging takes ten minutes.", "engine": "google", "score": 2},
		map[string]any{"title": "Factories", "url": "https://news.example.org/factories?page=1", "content": "Three factories are planned.", "engine": "bing", "score": 1},
	)
	return e
}

func (e *searchEngine) set(results ...map[string]any) { e.results.Store(&results) }

// at returns the variables that point a server at the engine.
func (e *searchEngine) at() []string {
	return []string{"CAIRN_WEB_SEARCH__PROVIDER=searxng", "CAIRN_WEB_SEARCH__URL=" + e.URL}
}

// toolTranscript writes the events of a tool's run: fragments of the response joined, ids by
// their order.
func toolTranscript(t *testing.T, list []event) string {
	t.Helper()
	var out strings.Builder
	streamed := ""
	flush := func() {
		if streamed != "" {
			fmt.Fprintf(&out, "tool_partial_update {\"content\":%q,\"output_key\":\"response\"}\n", streamed)
		}
		streamed = ""
	}
	for _, e := range list {
		if e.Name == "tool_partial_update" {
			var part struct {
				Content string
				Key     string `json:"output_key"`
			}
			if e.decode(t, &part); part.Key != "response" {
				t.Errorf("a fragment of %q", part.Key)
			}
			streamed += part.Content
			continue
		}
		flush()
		fmt.Fprintf(&out, "%s %s\n", e.Name, e.Data)
	}
	return out.String()
}

// TestToolContracts holds the events and the output objects of the two tools to a
// transcript, event by event and key by key.
func TestToolContracts(t *testing.T) {
	t.Parallel()
	m, engine := standIn(t, modeltest.Options{}), newSearchEngine(t)
	s := start(t, at(m.URL(), engine.at()...)...)
	document := s.publish(t, "lights", "The northern pier has a lighthouse.").ID
	var chunks struct{ Data []struct{ ID string } }
	if status := s.call(t, "GET", "/workspaces/default/documents/"+document+"/chunks", nil, &chunks); status != http.StatusOK || len(chunks.Data) != 1 {
		t.Fatalf("status %d, chunks %v", status, chunks)
	}
	for name, test := range map[string]struct {
		path, reply string
		body        map[string]any
	}{
		"rag_search": {"/tools/rag_search", "On the northern pier <source_1> and nowhere else <source_7>.", map[string]any{"query": "Where is the lighthouse?"}},
		"web_search": {
			"/tools/web_search", "According to the results <source_1>, ten minutes. Three are planned [2] <source_9>.",
			map[string]any{"query": "latest advancements in batteries", "time_range": "year"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m.ScriptChat(modeltest.Text(test.reply), modeltest.Text(test.reply))
			s.wantContract(t, name, test.path, test.body, document, "DOCUMENT", chunks.Data[0].ID, "CHUNK")
		})
	}
	t.Run("a_question_draws_from_documents_files_and_the_web", func(t *testing.T) { drawFromAllSources(t, s, m, engine) })
}

// wantContract calls a tool twice, without a stream and with one, and holds the events to the
// transcript of a name and the output object to the last event. names are ids and what stands
// for them in the transcript.
func (s *server) wantContract(t *testing.T, name, path string, body map[string]any, names ...string) {
	t.Helper()
	var plain json.RawMessage
	if status := s.call(t, "POST", path, body, &plain); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, plain)
	}
	body = maps.Clone(body)
	body["stream"] = true
	streamed := toolTranscript(t, s.follow(t, s.ask(t, path, body).run, 0))
	end, _ := strings.CutPrefix(streamed[strings.LastIndex(strings.TrimSpace(streamed), "\n")+1:], "tool_end ")
	names = append(names, `\u003c`, "<", `\u003e`, ">", executionID(t, plain), "CALL", executionID(t, json.RawMessage(end)), "CALL")
	ids := strings.NewReplacer(names...)
	if diff := cmp.Diff(ids.Replace(string(plain)), ids.Replace(strings.TrimSpace(end))); diff != "" {
		t.Errorf("without a stream the output differs: %s", diff)
	}
	wantTranscript(t, filepath.Join("testdata", name+".txtar"), ids.Replace(streamed))
}

// TestToolContractsInFull is TestToolContracts with a reranker, and with pages that are read:
// every phase of the two tools.
func TestToolContractsInFull(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<html><body><article><h1>Batteries</h1><p>%s The page is %s.</p></article></body></html>", strings.Repeat("The battery of the lighthouse is charged by the wind, as its keeper explains. ", 8), r.URL.Path)
	}))
	t.Cleanup(site.Close)
	m, engine := standIn(t, modeltest.Options{}), newSearchEngine(t)
	var results []map[string]any
	for _, path := range []string{"/wind", "/gone", "/keeper"} {
		results = append(results, map[string]any{"title": "Page " + path, "url": site.URL + path, "content": "The snippet of " + path, "engine": "google"})
	}
	engine.set(results...)
	s := start(t, at(m.URL(), append(engine.at(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8", "CAIRN_MODELS__RERANK__BASE_URL="+m.URL(), "CAIRN_MODELS__RERANK__MODEL=bge")...)...)
	settings := map[string]any{
		"ai":    map[string]any{"retrieval": map[string]any{"reranker": "bge", "numberOfChunks": 2}},
		"tools": map[string]any{"web_search": map[string]any{"scrape": true}},
	}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", settings, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	names := []string{site.URL, "http://SITE"}
	for name, text := range map[string]string{
		"horns": "The southern pier has a foghorn.", "bells": "The market has a bell that rings at noon.", "lights": "The northern pier has a lighthouse that the wind powers.",
	} {
		document := s.publish(t, name, text).ID
		var chunks struct{ Data []struct{ ID string } }
		if status := s.call(t, "GET", "/workspaces/default/documents/"+document+"/chunks", nil, &chunks); status != http.StatusOK || len(chunks.Data) != 1 {
			t.Fatalf("status %d, chunks %v", status, chunks)
		}
		names = append(names, document, "DOCUMENT-"+name, chunks.Data[0].ID, "CHUNK-"+name)
	}
	for name, test := range map[string]struct {
		path, reply string
		body        map[string]any
	}{
		"rag_search_in_full": {"/tools/rag_search", "On the northern pier <source_1>.", map[string]any{"query": "northern pier lighthouse", "project_id": "default"}},
		"web_search_in_full": {"/tools/web_search", "By the wind <source_1>.", map[string]any{"query": "lighthouse battery keeper", "project_id": "default"}},
	} {
		t.Run(name, func(t *testing.T) {
			m.ScriptChat(modeltest.Text(test.reply), modeltest.Text(test.reply))
			s.wantContract(t, name, test.path, test.body, names...)
		})
	}
}

// TestKillDuringAWebSearch kills the server while the model answers from the web. The
// reader gets the words once, and no search is made again.
func TestKillDuringAWebSearch(t *testing.T) {
	t.Parallel()
	m, engine := standIn(t, modeltest.Options{Tokens: 120, TokenDelay: 12 * time.Millisecond}), newSearchEngine(t)
	s := start(t, at(m.URL(), engine.at()...)...)
	a := s.ask(t, "/tools/web_search", map[string]any{"query": "latest advancements in batteries", "stream": true})
	r := &reader{run: a.run, body: a}
	r.until(t, words(t, 20, toolText))
	s.kill()
	s.restart()
	r.reconnect(t, s, never)
	streamed, _, _ := strings.Cut(toolText(t, r.list), " <source_")
	answered, _, _ := strings.Cut(toolResponse(t, r.list), " <web_citation")
	wantSame(t, "the text without its citations", streamed, answered)
	if n := strings.Count(toolText(t, r.list), "word"); n != 120 || engine.asked.Load() != 1 {
		t.Errorf("%d words of 120, after %d searches", n, engine.asked.Load())
	}
}

// TestWebSearchKeepsToDomains: a search in domains that the engine ignores, one without
// results, and a server without an engine.
func TestWebSearchKeepsToDomains(t *testing.T) {
	t.Parallel()
	m, engine := standIn(t, modeltest.Options{}), newSearchEngine(t)
	s := start(t, at(m.URL(), engine.at()...)...)
	engine.set(
		map[string]any{"title": "Look-alike", "url": "https://evil-example.com/", "content": "No."},
		map[string]any{"title": "Another", "url": "https://example.com.evil.org/", "content": "No."},
		map[string]any{"title": "A user", "url": "https://example.com@evil.org/", "content": "No."},
		map[string]any{"title": "Right", "url": "https://docs.example.com/", "content": "Yes."},
	)
	for domain, want := range map[string]int{"example.com": 1, "example.net": 0} {
		var out struct {
			Response string
			Sources  []struct{ Title string }
			Used     []int `json:"sources_used"`
			Total    *int  `json:"total_results"`
		}
		asked := m.Totals().Chats.Asked
		body := map[string]any{"query": "batteries", "whitelisted_domains": []string{domain}}
		if status := s.call(t, "POST", "/tools/web_search", body, &out); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		if len(out.Sources) != want || *out.Total != want || m.Totals().Chats.Asked-asked != want {
			t.Errorf("%s: %+v, %d model calls", domain, out, m.Totals().Chats.Asked-asked)
		}
		if want == 0 && (!strings.Contains(out.Response, "no page on example.net") || out.Used == nil) {
			t.Errorf("%s: %+v", domain, out)
		}
	}
	for body, status := range map[string]int{`{"query":"a","time_range":"week"}`: 422, `{"query":"a","whitelisted_domains":["a b"]}`: 422, `{"query":" "}`: 422, `{"query":"a","pages":2}`: 422} {
		if got := s.call(t, "POST", "/tools/web_search", json.RawMessage(body), nil); got != status {
			t.Errorf("%s: status %d", body, got)
		}
	}
}

// TestWebSearchReadsPages lets a search read the pages that it found: a real one, one that
// does not answer, and one that redirects to a domain that is not allowed.
func TestWebSearchReadsPages(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("The battery of the northern lighthouse is charged by the wind, as its keeper explains. ", 8)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<html><body><nav><a href=/>Home</a></nav><article><h1>Batteries</h1><p>%s</p><p>It lasts forty days.</p></article></body></html>", paragraph)
		case "/slow":
			<-r.Context().Done()
		case "/away":
			http.Redirect(w, r, "http://localhost/elsewhere", http.StatusFound)
		case "/scripted":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<div id="app">Loading</div><script>fetch("/words").then(r => r.text()).then(t => { app.textContent = t })</script>`)
		case "/words":
			_, _ = io.WriteString(w, "Only a script shows that the second battery lasts ninety days.")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	m, engine := standIn(t, modeltest.Options{}), newSearchEngine(t)
	results := []map[string]any{}
	for _, path := range []string{"/page", "/slow", "/away", "/scripted"} {
		results = append(results, map[string]any{"title": path, "url": site.URL + path, "content": "The snippet of " + path})
	}
	engine.set(results...)
	s := start(t, at(m.URL(), append(engine.at(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8", "CAIRN_SCRAPE__CHROMIUM=true")...)...)
	project := map[string]any{"tools": map[string]any{"web_search": map[string]any{"scrape": true}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", project, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	body := map[string]any{"query": "How long does the battery last?", "project_id": "default", "whitelisted_domains": []string{"127.0.0.1"}, "stream": true}
	a := s.ask(t, "/tools/web_search", body)
	r := &reader{run: a.run, body: a}
	r.until(t, never)
	transcript := toolTranscript(t, r.list)
	for _, want := range []string{`{"phase":"SCRAPING_URLS","status":"started","data":{"url_count":4}}`, `{"phase":"SCRAPING_URLS","status":"completed","data":{"scraped_count":2`} {
		if !strings.Contains(transcript, want) {
			t.Errorf("no %s in\n%s", want, transcript)
		}
	}
	requests := m.Requests()
	read := fmt.Sprint(requests[len(requests)-1].Messages)
	if !strings.Contains(read, "It lasts forty days.") || !strings.Contains(read, "The snippet of /slow") || strings.Contains(read, "/away") || strings.Contains(read, "Home") {
		t.Errorf("the model reads %s", read)
	}
	engine.set(results[3])
	t.Run("scripts", func(t *testing.T) { readsScripts(t, s, m, site.URL, body) })
}

// readsScripts wants the words that a script of a page fetches, in a document and in an
// answer from the web. A search gives a page little time, which a start of the browser
// can exceed where other tests run, so the document comes first and the search is
// repeated.
func readsScripts(t *testing.T, s *server, m *modeltest.Server, site string, body map[string]any) {
	if err := pagebrowser.Available(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var document client.Document
	link := map[string]any{"name": "scripted", "content": map[string]any{"url": site + "/scripted"}}
	if status := s.call(t, "POST", "/workspaces/default/webhooks/document?projectId=default&wait=true", link, &document); status != http.StatusOK || document.ChunkCount != 1 {
		t.Fatalf("status %d, %+v", status, document)
	}
	var found struct{ Context string }
	if s.call(t, "POST", "/workspaces/default/webhooks/retrieve-context", map[string]any{"text": "battery ninety days", "projectId": "default"}, &found); !strings.Contains(found.Context, "ninety days") {
		t.Errorf("the document has %q", found.Context)
	}
	await(t, 3*time.Minute, "a search reads what the script wrote", func(context.Context) error {
		if status := s.call(t, "POST", "/tools/web_search", without(body, "stream"), nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		requests := m.Requests()
		if read := fmt.Sprint(requests[len(requests)-1].Messages); !strings.Contains(read, "ninety days") {
			return fmt.Errorf("the model reads %s", read)
		}
		return nil
	})
}

// without returns an object without one of its keys.
func without(object map[string]any, key string) map[string]any {
	object = maps.Clone(object)
	delete(object, key)
	return object
}

func executionID(t *testing.T, output json.RawMessage) string {
	t.Helper()
	var o struct {
		ID string `json:"execution_id"`
	}
	if err := json.Unmarshal(output, &o); err != nil || !strings.HasPrefix(o.ID, "call_") {
		t.Errorf("execution_id %q, %v of %s", o.ID, err, output)
	}
	return o.ID
}

// wantTranscript compares a transcript with a file.
func wantTranscript(t *testing.T, path, got string) {
	t.Helper()
	if *updateTranscripts {
		if err := os.WriteFile(path, txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: "events", Data: []byte(got)}}}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(archive.Files[0].Data), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
