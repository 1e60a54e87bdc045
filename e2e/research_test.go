package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// researchUpdate is an event of a research.
type researchUpdate struct {
	Phase, Status, Text, Reason string
	Round, Question, Section    int
	Found, Notes                *int
	Questions, Sections         []string
	Documents                   []struct{ ID, Name string }
	Pages                       []struct{ URL, Title string }
}

// updates returns a condition that holds once n events of a research have this phase and
// status.
func updates(t *testing.T, n int, phase, status string) func([]event) bool {
	return func(list []event) bool {
		count := 0
		for _, e := range list {
			var u researchUpdate
			if e.Name != "researchUpdate" {
				continue
			}
			if e.decode(t, &u); u.Phase == phase && u.Status == status {
				count++
			}
		}
		return count >= n
	}
}

// researchTools are the arguments with which the stand-in model plans, notes and outlines.
func researchTools(t *testing.T, questions, sections int) map[string]string {
	t.Helper()
	type object = map[string]any
	var planned, outlined []object
	for i := range questions {
		planned = append(planned, object{"question": fmt.Sprintf("What stands on pier number %d?", i+1), "queries": []string{}})
	}
	for i := range sections {
		outlined = append(outlined, object{"heading": fmt.Sprintf("Pier %d", i+1), "notes": []int{i + 1, i + 2}})
	}
	tools := map[string]string{}
	for name, arguments := range map[string]object{
		"plan_research":  {"questions": planned},
		"take_notes":     {"notes": []object{{"text": "A lighthouse stands there.", "sources": []int{1}}}, "missing": ""},
		"outline_report": {"title": "The piers", "sections": outlined},
	} {
		text, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		tools[name] = string(text)
	}
	return tools
}

// research asks for a report with sse.
func (s *server) research(t *testing.T, limits map[string]any) *reader {
	t.Helper()
	a := s.ask(t, webhooks+"/query?compact=true", map[string]any{
		"text": "What stands on the piers?", "projectId": "default", "sse": true, "deepResearch": true,
		"projectConfigOverride": map[string]any{"tools": map[string]any{"deep_research": limits}},
	})
	return &reader{run: a.run, body: a}
}

// TestKillDuringAResearch kills the server in the search, in the middle of it again, and
// while the report is written, in a research of 39 model calls.
func TestKillDuringAResearch(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 30, TokenDelay: 20 * time.Millisecond, Tools: researchTools(t, 28, 8)})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	r := s.research(t, map[string]any{"breadth": 20, "depth": 2, "budget": map[string]any{"calls": 100}})
	for kill, until := range []func([]event) bool{
		updates(t, 5, "notes", "completed"), updates(t, 21, "notes", "completed"), updates(t, 4, "section", "completed"),
	} {
		if kill == 0 {
			r.until(t, until)
		} else {
			silence := r.reconnect(t, s, until)
			t.Logf("kill %d: %v of silence behind the start", kill, silence.Round(time.Millisecond))
			if silence > silenceLimit {
				t.Errorf("readers received nothing for %v after the restart", silence)
			}
		}
		if r.ended() {
			t.Fatalf("the research had ended before kill %d: %s", kill+1, r.list[len(r.list)-1].Data)
		}
		s.kill()
		s.restart()
		if kill == 1 { // what was asked of it before is obeyed
			if status := s.call(t, "POST", "/runs/"+r.run+"/messages", map[string]any{"text": "Mind the foghorns"}, nil); status != http.StatusAccepted {
				t.Errorf("a message: status %d", status)
			}
		}
	}
	r.reconnect(t, s, never)
	tr := read(t, r.list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	again := s.follow(t, r.run, 0)
	wantSame(t, "what a later reader puts together", answerText(t, again), tr.answer.Text)
	if len(again) != len(r.list) || tr.resets != 0 {
		t.Errorf("%d events later, %d at the time; %d resets", len(again), len(r.list), tr.resets)
	}
	wantResolved(t, tr.answer)
	if n := strings.Count(tr.text, "\n## Pier "); n != 8 {
		t.Errorf("the report has %d sections of 8:\n%s", n, tr.text)
	}
	calls, repeated, steered := 0, 0, 0
	for _, count := range m.Chats() {
		calls++
		repeated += max(count.Answered-1, 0)
	}
	for _, request := range m.Requests() {
		if strings.Contains(fmt.Sprint(request.Messages), "foghorns") {
			steered++
		}
	}
	t.Logf("%d model calls, of which %d that were in flight were answered again", calls, repeated)
	if calls < 39 || repeated > 3*4 || steered == 0 {
		t.Errorf("%d model calls, %d answered again, %d with the message", calls, repeated, steered)
	}
}

var citedSource = regexp.MustCompile(`<(?:citation id|web_citation url)="([^"]*)"`)

// wantResolved checks that every citation names a source of the answer.
func wantResolved(t *testing.T, a client.Answer) {
	t.Helper()
	sources := map[string]bool{}
	for _, source := range a.Sources {
		sources[cmp.Or(source.ChunkID, source.URL)] = true
	}
	cited := citedSource.FindAllStringSubmatch(a.Text, -1)
	for _, c := range cited {
		if !sources[html.UnescapeString(c[1])] {
			t.Errorf("the citation of %s does not resolve", c[1])
		}
	}
	if len(cited) == 0 {
		t.Errorf("the report cites nothing:\n%s", a.Text)
	}
}

// TestResearch pauses, resumes and cancels a research over restarts, lets one run out of
// its budget, and has one read the web.
func TestResearch(t *testing.T) {
	t.Parallel()
	m, engine := standIn(t, modeltest.Options{Tokens: 20, TokenDelay: 20 * time.Millisecond, Tools: researchTools(t, 6, 6)}), newSearchEngine(t)
	s := start(t, at(m.URL(), append(engine.at(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")

	t.Run("that is paused goes on when it is resumed, after a restart", func(t *testing.T) {
		r := s.research(t, map[string]any{"breadth": 6, "budget": map[string]any{"calls": 60}})
		r.until(t, updates(t, 1, "section", "completed"))
		s.call(t, "POST", "/runs/"+r.run+"/pause", nil, nil)
		r.until(t, updates(t, 1, "pause", "started"))
		s.kill()
		s.restart()
		asked := m.Totals().Chats.Asked
		// Another research goes to its end meanwhile, so this one has had its time to begin.
		other := s.research(t, map[string]any{"depth": 1, "breadth": 1})
		if _, err := s.Wait(t.Context(), other.run, nil); err != nil {
			t.Fatal(err)
		}
		var ended struct {
			Usage struct {
				Calls int `json:"model_calls"`
			} `json:"usage"`
		}
		s.call(t, "GET", "/runs/"+other.run, nil, &ended)
		if calls := m.Totals().Chats.Asked - asked; ended.Usage.Calls == 0 || calls > ended.Usage.Calls+1 {
			t.Errorf("%d model calls while it was paused, of which another research has asked for %d", calls, ended.Usage.Calls)
		}
		s.call(t, "POST", "/runs/"+r.run+"/resume", nil, nil)
		r.reconnect(t, s, never)
		tr := read(t, r.list)
		wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
		wantResolved(t, tr.answer)
	})

	t.Run("that is canceled after a restart ends as canceled", func(t *testing.T) {
		r := s.research(t, map[string]any{"breadth": 6})
		r.until(t, updates(t, 1, "section", "started"))
		s.kill()
		s.restart()
		s.call(t, "POST", "/runs/"+r.run+"/cancel", nil, nil)
		r.reconnect(t, s, never)
		if last := r.list[len(r.list)-1]; last.Name != client.EventError || !strings.Contains(string(last.Data), "canceled") {
			t.Errorf("it ended with %s %s", last.Name, last.Data)
		}
	})

	for phase, tool := range map[string]string{"plan": "plan_research", "notes": "take_notes"} {
		t.Run("that is canceled while it waits for its "+phase, func(t *testing.T) {
			hang := modeltest.Hang()
			if tool == "take_notes" {
				m.ScriptChat(modeltest.Call(model.ToolCall{ID: "call_1", Name: "plan_research", Arguments: `{"questions":[{"question":"What stands on the pier?","queries":[]}]}`}))
			}
			m.ScriptChat(hang)
			r := s.research(t, map[string]any{"depth": 1})
			await(t, time.Minute, "the model is asked", func(context.Context) error {
				if asked := m.Requests(); len(asked) == 0 || asked[len(asked)-1].ToolChoice.Name != tool {
					return errors.New("not yet")
				}
				return nil
			})
			s.wantCallCanceled(t, r, m)
		})
	}

	t.Run("that reads the web cites what it read, and calls back", func(t *testing.T) { s.researchWeb(t, m, engine) })

	t.Run("asks the webhook of its project", func(t *testing.T) { s.researchAsked(t, m) })

	t.Run("that runs out of calls says what it leaves out", func(t *testing.T) {
		r := s.research(t, map[string]any{"breadth": 6, "budget": map[string]any{"calls": 6}})
		r.until(t, never)
		tr := read(t, r.list)
		wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
		var usage knowledge.Usage
		if err := json.Unmarshal(tr.answer.Usage, &usage); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(tr.text, "budget of model calls") || !strings.Contains(tr.text, "Not researched: What stands on pier number 6?") || usage.ModelCalls > 6 {
			t.Errorf("after %d calls:\n%s", usage.ModelCalls, tr.text)
		}
	})
}

// researchWeb runs a research that may read the web, of which one page can be read, and
// has its report sent to a callback.
func (s *server) researchWeb(t *testing.T, m *modeltest.Server, engine *searchEngine) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<html><body><article><h1>Keepers</h1><p>%s</p><p>The keeper is called Ondine.</p></article></body></html>",
			strings.Repeat("The northern lighthouse has a keeper, as the harbour office explains. ", 8))
	}))
	t.Cleanup(site.Close)
	engine.set(
		map[string]any{"title": "Keepers", "url": site.URL + "/page", "content": "The keeper"},
		map[string]any{"title": "Gone", "url": site.URL + "/gone", "content": "The keeper is called Undine."})
	a := newAsker(t)
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"callbackSecret": hookSecret}, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	call := func(name, arguments string) modeltest.Reply {
		return modeltest.Call(model.ToolCall{ID: "call_1", Name: name, Arguments: arguments})
	}
	m.ScriptChat(
		call("plan_research", `{"questions":[{"question":"Who keeps the northern lighthouse?","queries":["lighthouse keeper"]}]}`),
		call("take_notes", `{"notes":[{"text":"Ondine keeps the lighthouse.","sources":[1,2,3]}],"missing":""}`),
		call("outline_report", `{"title":"Keepers","sections":[{"heading":"The keeper","notes":[1]}]}`),
		modeltest.Text("The lighthouse <source_1> is kept by Ondine <source_2>, not by Undine <source_3>."))
	var accepted struct{ RunID string }
	if status := s.call(t, "POST", webhooks+"/query", map[string]any{
		"text": "Who keeps it?", "projectId": "default", "deepResearch": true, "callback": map[string]any{"url": a.url + "/callback"},
		"projectConfigOverride": map[string]any{"tools": map[string]any{"web_search": map[string]any{}, "deep_research": map[string]any{"depth": 1}}},
	}, &accepted); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	list := s.follow(t, accepted.RunID, 0)
	tr := read(t, list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	wantResolved(t, tr.answer)
	cited := fmt.Sprintf(`is kept by Ondine <web_citation url="%s/page" title="Keepers">[2]</web_citation>, not by Undine.`, site.URL)
	if !strings.Contains(tr.text, cited) || len(tr.answer.Sources) != 2 || tr.answer.Sources[1].URL != site.URL+"/page" {
		t.Errorf("the report with %+v is\n%s", tr.answer.Sources, tr.text)
	}
	pages := 0
	for _, e := range list {
		var u researchUpdate
		if e.Name != "researchUpdate" {
			continue
		}
		if e.decode(t, &u); u.Phase == "web" && u.Status == "completed" && len(u.Pages) == 1 && u.Pages[0].URL == site.URL+"/page" && u.Pages[0].Title == "Keepers" {
			pages++
		}
	}
	if pages != 1 {
		t.Errorf("%d events name the page that was read", pages)
	}
	for _, workflow := range []string{"research/default/" + accepted.RunID, "research/default/" + accepted.RunID + "/round-1-question-1"} {
		if said := plain(t, s.history(t, workflow)); strings.Contains(said, "Ondine") || strings.Contains(said, "/page") {
			t.Errorf("the history of %s has words of the page", workflow)
		}
	}
	await(t, time.Minute, "the callback comes", func(context.Context) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.callbacks) == 0 {
			return errors.New("none yet")
		}
		if got := a.callbacks[0]; got["runId"] != accepted.RunID || got["answer"] != tr.answer.Text {
			t.Errorf("the callback got %v", got)
		}
		return nil
	})
}

// TestOfflineResearch has the offline model write a report.
func TestOfflineResearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish(t, "pump", "The HX-4 pump weighs 12 kg. It needs oil every 500 hours. The oil is of the grade VG 46.")
	var answer client.Answer
	status := s.call(t, "POST", webhooks+"/query", map[string]any{
		"text": "How heavy is the HX-4 pump and how often does it need oil?", "projectId": "default", "deepResearch": true,
	}, &answer)
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	t.Log(answer.Text)
	wantResolved(t, answer)
	for _, part := range []string{"12 kg", "500 hours"} {
		if !strings.Contains(answer.Text, part) {
			t.Errorf("the report does not say %q:\n%s", part, answer.Text)
		}
	}
}

// recordedResearch runs a research with the words of TestHistories, with a message,
// and returns its run.
func (s *server) recordedResearch(t *testing.T, m *modeltest.Server) string {
	t.Helper()
	call := func(name, arguments string) modeltest.Reply {
		return modeltest.Call(model.ToolCall{ID: "call_1", Name: name, Arguments: arguments})
	}
	released := make(chan struct{})
	first := call("plan_research", `{"questions":[{"question":"Which luminous apparatus is there?","queries":["refracting prisms"]}]}`)
	first.Until = released
	m.ScriptChat(
		first, call("take_notes", `{"notes":[{"text":"It has a catadioptric assembly.","sources":[1]}],"missing":""}`),
		call("plan_research", `{"questions":[]}`),
		call("outline_report", `{"title":"It is so","sections":[{"heading":"It is so","notes":[1]}]}`),
		modeltest.Text("It is so indeed. <source_1>"))
	a := s.ask(t, webhooks+"/query", map[string]any{"text": "Kindly elucidate the pharology", "projectId": "default", "sse": true, "deepResearch": true})
	r := &reader{run: a.run, body: a}
	r.until(t, updates(t, 1, "plan", "started"))
	if status := s.call(t, "POST", "/runs/"+a.run+"/messages", map[string]any{"text": "Mind the pharology"}, nil); status != http.StatusAccepted {
		t.Fatalf("a message: status %d", status)
	}
	close(released)
	list := s.follow(t, a.run, 0)
	if tr := read(t, list); !strings.Contains(tr.answer.Text, "indeed") {
		t.Fatalf("the report is %q", tr.answer.Text)
	}
	return a.run
}

// recordedWebResearch runs a research of the web with the words of TestHistories.
func (s *server) recordedWebResearch(t *testing.T, m *modeltest.Server, engine *searchEngine) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, strings.Repeat("Its refracting prisms are luminous. ", 20))
	}))
	t.Cleanup(site.Close)
	engine.set(map[string]any{"title": "It is so", "url": site.URL + "/so", "content": "Its refracting prisms are luminous."})
	call := func(name, arguments string) modeltest.Reply {
		return modeltest.Call(model.ToolCall{ID: "call_1", Name: name, Arguments: arguments})
	}
	m.ScriptChat(
		call("plan_research", `{"questions":[{"question":"Which luminous apparatus is there?","queries":["refracting prisms"]}]}`),
		call("take_notes", `{"notes":[{"text":"It has a catadioptric assembly.","sources":[1,2]}],"missing":""}`),
		call("outline_report", `{"title":"It is so","sections":[{"heading":"It is so","notes":[1]}]}`),
		modeltest.Text("It is so indeed. <source_1> <source_2>"))
	a := s.ask(t, webhooks+"/query", map[string]any{
		"text": "Kindly elucidate the pharology", "projectId": "default", "sse": true, "deepResearch": true,
		"projectConfigOverride": map[string]any{"tools": map[string]any{"web_search": map[string]any{}, "deep_research": map[string]any{"depth": 1}}},
	})
	tr := read(t, s.follow(t, a.run, 0))
	if !strings.Contains(tr.answer.Text, `indeed.`) || !strings.Contains(tr.answer.Text, `<web_citation url="`+site.URL+`/so"`) {
		t.Fatalf("the report is %q", tr.answer.Text)
	}
	return a.run
}
