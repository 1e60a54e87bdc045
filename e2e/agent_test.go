package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// agents makes projects, and gives each the one behind it as the tool ask_<id>. The first
// one is there already.
func (s *server) agents(t *testing.T, projects ...string) {
	t.Helper()
	for i, project := range projects {
		if i > 0 {
			if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": project}, nil); status >= 300 {
				t.Fatalf("project %s: status %d", project, status)
			}
		}
	}
	for i, asked := range projects[1:] {
		if status := s.agent(t, projects[i], asked); status != http.StatusOK {
			t.Fatalf("%s as a tool of %s: status %d", asked, projects[i], status)
		}
	}
}

// agent adds another project to the tools of a project, and returns the status of the request.
func (s *server) agent(t *testing.T, project, asked string) int {
	t.Helper()
	custom := map[string]any{"ask_" + asked: map[string]any{"type": "agent", "agent": map[string]any{"id": asked, "name": "Expert"}}}
	return s.call(t, "PATCH", "/workspaces/default/projects/"+project, map[string]any{"tools": map[string]any{"custom": custom}}, nil)
}

// askAgent is a model's call of an agent.
func askAgent(project, question string) modeltest.Reply {
	arguments := fmt.Sprintf(`{"question":%q}`, question)
	return modeltest.Call(model.ToolCall{ID: "call_" + project, Name: "ask_" + project, Arguments: arguments})
}

// publishIn publishes a text in a project.
func (s *server) publishIn(t *testing.T, project, name, text string, more map[string]any) string {
	t.Helper()
	body := map[string]any{"name": name, "externalId": name, "content": map[string]string{"text": text}}
	for k, v := range more {
		body[k] = v
	}
	var a accepted
	if status := s.call(t, "POST", webhooks+"/document?projectId="+project, body, &a); status != http.StatusAccepted {
		t.Fatalf("upload of %s: status %d", name, status)
	}
	if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
		t.Fatal(err)
	}
	return a.ID
}

// agentEvent is a toolEvent with the progress of an agent.
type agentEvent struct {
	ToolCallID string
	Event      string
	Data       struct {
		RunID, ProjectID, Name, Status string
		Found                          *int
	}
}

// progress returns what the events show of agents, and the run of the first.
func progress(t *testing.T, list []event) (shown []string, run string) {
	t.Helper()
	for _, e := range list {
		var a agentEvent
		if e.Name != "toolEvent" {
			continue
		}
		e.decode(t, &a)
		if run == "" {
			run = a.Data.RunID
		}
		shown = append(shown, strings.TrimSpace(a.ToolCallID+" "+a.Event+" "+a.Data.ProjectID+a.Data.Name+" "+a.Data.Status))
	}
	return shown, run
}

// lastWords returns what a model read last.
func lastWords(m *modeltest.Server) string {
	requests := m.Requests()
	messages := requests[len(requests)-1].Messages
	return string(messages[len(messages)-1].Content)
}

// TestAgents has projects ask one another.
func TestAgents(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 60, TokenDelay: 20 * time.Millisecond})
	s := start(t, at(m.URL())...)
	s.agents(t, "default", "pumps", "oils", "fuels", "gases")
	document := s.publishIn(t, "pumps", "HX-4", "The HX-4 pump weighs 12 kg.", nil)

	t.Run("an agent's answer is cited with its passages", func(t *testing.T) { citesPassagesOfAnAgent(t, m, s, document) })

	t.Run("a failure of an agent is told to the model", func(t *testing.T) {
		m.ScriptChat(askAgent("pumps", "How heavy?"), modeltest.Fail(400), modeltest.Text("I do not know."))
		answer := read(t, s.follow(t, s.query(t, "How heavy is it?").run, 0)).answer
		if words := lastWords(m); answer.Text != "I do not know." || !strings.Contains(words, "the assistant did not answer: ") {
			t.Errorf("%s after %s", answer.Text, words)
		}
	})

	t.Run("the depth is bounded", func(t *testing.T) {
		m.ScriptChat(askAgent("pumps", "1"), askAgent("oils", "2"), askAgent("fuels", "3"), askAgent("gases", "4"),
			modeltest.Text("D"), modeltest.Text("C"), modeltest.Text("B"), modeltest.Text("A"))
		answer := read(t, s.follow(t, s.query(t, "Ask on.").run, 0)).answer
		requests := m.Requests()
		messages := requests[len(requests)-4].Messages
		if words := string(messages[len(messages)-1].Content); answer.Text != "A" || !strings.Contains(words, "at most 3 deep") {
			t.Errorf("%s after %s", answer.Text, words)
		}
	})

	t.Run("a cycle is refused", func(t *testing.T) {
		for _, cycle := range [][2]string{{"default", "default"}, {"pumps", "default"}, {"fuels", "default"}, {"default", "nobody"}} {
			if status := s.agent(t, cycle[0], cycle[1]); status != http.StatusUnprocessableEntity {
				t.Errorf("%s asks %s: status %d", cycle[0], cycle[1], status)
			}
		}
	})

	t.Run("a cancel reaches the agent", func(t *testing.T) {
		m.ScriptChat(askAgent("pumps", "How heavy?"), modeltest.Hang())
		a := s.query(t, "How heavy is it?")
		r := &reader{run: a.run, body: a}
		asked := m.Totals().Chats.Asked
		r.until(t, func(list []event) bool { shown, _ := progress(t, list); return len(shown) > 0 })
		for deadline := time.Now().Add(30 * time.Second); m.Totals().Chats.Asked < asked+1 && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		s.wantCallCanceled(t, r, m)
		_, run := progress(t, r.list)
		var child struct{ Status string }
		if s.call(t, "GET", "/runs/"+run, nil, &child); child.Status != "canceled" {
			t.Errorf("the agent's run is %s", child.Status)
		}
	})

	t.Run("a key to one project does not reach another by its agent", func(t *testing.T) {
		var made struct{ Key string }
		s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "one", "scopes": []string{"read"}, "project_id": "default"}, &made)
		m.ScriptChat(askAgent("pumps", "How heavy?"), modeltest.Text("No."))
		var answer client.Answer
		status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "How heavy?", "projectId": "default"}, &answer, "Authorization", "Bearer "+made.Key)
		if words := lastWords(m); status != http.StatusOK || answer.Text != "No." || !strings.Contains(words, "there is no such tool") || len(answer.Sources) != 0 {
			t.Errorf("status %d, %+v after %s", status, answer, words)
		}
	})

	t.Run("a kill in the middle of an agent repeats no finished call", func(t *testing.T) { repeatsNoCallOverAKill(t, m, s) })
}

func citesPassagesOfAnAgent(t *testing.T, m *modeltest.Server, s *server, document string) {
	search := modeltest.Call(model.ToolCall{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"weight of the HX-4"}`})
	m.ScriptChat(askAgent("pumps", "How heavy is the HX-4?"), search, modeltest.Text("It weighs 12 kg. <source_1>"), modeltest.Text("The expert says 12 kg <source_1>."))
	list := s.follow(t, s.query(t, "How heavy is it?").run, 0)
	answer := read(t, list).answer
	if len(answer.Sources) != 1 || answer.Sources[0].DocumentID != document || !strings.Contains(answer.Text, `<citation id="`+answer.Sources[0].ChunkID+`">[1]</citation>`) {
		t.Errorf("%s\n%+v", answer.Text, answer.Sources)
	}
	if words := lastWords(m); !strings.Contains(words, "The HX-4 pump weighs 12 kg.") || !strings.Contains(words, "It weighs 12 kg. <source_1>") {
		t.Errorf("the model reads %s", words)
	}
	shown, run := progress(t, list)
	want := "call_pumps started pumps|call_pumps toolCall documents_rag started|call_pumps toolCall documents_rag completed"
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("the events show %s, want %s", got, want)
	}
	var usage knowledge.Usage
	if err := json.Unmarshal(answer.Usage, &usage); err != nil || usage.ModelCalls != 4 {
		t.Errorf("usage %+v, %v", usage, err)
	}
	var child struct {
		Status, ProjectID string `json:",omitempty"`
		Result            struct{ Answer string }
	}
	if s.call(t, "GET", "/runs/"+run, nil, &child); child.Status != "completed" || !strings.Contains(child.Result.Answer, "12 kg") {
		t.Errorf("the agent's run is %+v", child)
	}
}

func repeatsNoCallOverAKill(t *testing.T, m *modeltest.Server, s *server) {
	before := m.Totals().Chats
	search := modeltest.Call(model.ToolCall{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"weight"}`})
	m.ScriptChat(askAgent("pumps", "What does the HX-4 weigh in the middle of a kill?"), search)
	a := s.query(t, "How heavy is it after a kill?")
	r := &reader{run: a.run, body: a}
	r.until(t, func(list []event) bool { shown, _ := progress(t, list); return len(shown) == 3 })
	for deadline := time.Now().Add(30 * time.Second); m.Totals().Chats.Asked < before.Asked+3 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	s.kill() // while the agent writes its answer
	s.restart()
	if silence := r.reconnect(t, s, never); silence > silenceLimit {
		t.Errorf("readers received nothing for %v after the restart", silence)
	}
	tr := read(t, r.list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	shown, _ := progress(t, r.list)
	if answered := m.Totals().Chats.Answered - before.Answered; answered != 4 || len(shown) != 3 || tr.answer.Text == "" {
		t.Errorf("%d answers of the model for 4 calls; the events show %v; the answer is %q", answered, shown, tr.answer.Text)
	}
}

// agentOverKills has a person approve the call of an agent, and a call of that agent. It
// kills only the worker while each waits, and again while the agent writes its answer. It
// returns the worker that is left.
func (s *server) agentOverKills(t *testing.T, m *modeltest.Server, w *role, replace func() *role) *role {
	t.Helper()
	s.agents(t, "default", "pumps")
	s.publishIn(t, "pumps", "HX-4", "The HX-4 pump weighs 12 kg.", nil)
	for project, tool := range map[string]string{"default": "ask_pumps", "pumps": "documents_rag"} {
		change := map[string]any{"tools": map[string]any{"approval": []string{tool}}}
		if status := s.call(t, "PATCH", "/workspaces/default/projects/"+project, change, nil); status != http.StatusOK {
			t.Fatalf("project %s: status %d", project, status)
		}
	}
	before := m.Totals().Chats
	m.ScriptChat(askAgent("pumps", "What does the HX-4 weigh?"), modeltest.Call(model.ToolCall{ID: "search", Name: "documents_rag", Arguments: `{"query":"weight"}`}))
	a := s.query(t, "How heavy is it over kills of the worker?")
	r := &reader{run: a.run, body: a}
	approve := func(run, call string) {
		w.kill()
		w = replace()
		if status := s.call(t, "POST", "/runs/"+run+"/calls/"+call, map[string]any{"decision": "approve"}, nil); status != http.StatusOK {
			t.Fatalf("the approval of %s: status %d", call, status)
		}
	}
	r.until(t, func(list []event) bool {
		return slices.Contains(statuses(t, list), callStatus{ID: "call_pumps", Status: "waiting"})
	})
	approve(a.run, "call_pumps")
	r.until(t, func(list []event) bool {
		shown, _ := progress(t, list)
		return slices.Contains(shown, "call_pumps toolCall documents_rag waiting")
	})
	_, child := progress(t, r.list)
	approve(child, "search")
	await(t, time.Minute, "the agent writes its answer", func(context.Context) error {
		if m.Totals().Chats.Asked < before.Asked+3 {
			return errors.New("not yet")
		}
		return nil
	})
	w.kill()
	w = replace()
	r.until(t, never) // on the same connection
	tr := read(t, r.list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	shown, _ := progress(t, r.list)
	want := "call_pumps started pumps|call_pumps toolCall documents_rag waiting|call_pumps toolCall documents_rag started|call_pumps toolCall documents_rag completed"
	if got := strings.Join(shown, "|"); got != want {
		t.Errorf("the events show %s, want %s", got, want)
	}
	if answered := m.Totals().Chats.Answered - before.Answered; answered != 4 || tr.answer.Text == "" {
		t.Errorf("%d answers of the model for 4 calls; the answer is %q", answered, tr.answer.Text)
	}
	return w
}

// recordedAgent has the default project ask another one, with the words of TestHistories,
// and returns the runs of both.
func (s *server) recordedAgent(t *testing.T, m *modeltest.Server) (asking, asked string) {
	t.Helper()
	s.agents(t, "default", "piers")
	s.publishIn(t, "piers", "lights", "The northern pier has a lighthouse whose lens is a catadioptric assembly.", nil)
	search := modeltest.Call(model.ToolCall{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"luminous apparatus northern"}`})
	m.ScriptChat(askAgent("piers", "Kindly elucidate the pharology"), search, modeltest.Text("It is so. <source_1>"), modeltest.Text("It is so indeed. <source_1>"))
	a := s.query(t, "Kindly elucidate the pharology to an agent")
	list := s.follow(t, a.run, 0)
	_, asked = progress(t, list)
	if tr := read(t, list); !strings.Contains(tr.answer.Text, "indeed") || asked == "" {
		t.Fatalf("the answer with an agent is %q", tr.answer.Text)
	}
	return a.run, asked
}
