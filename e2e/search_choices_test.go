package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// publishWith publishes a text with tags and metadata.
func (s *server) publishWith(t *testing.T, name, text string, fields map[string]any) documentView {
	t.Helper()
	body := map[string]any{"name": name, "externalId": name, "content": map[string]string{"text": text}}
	for key, value := range fields {
		body[key] = value
	}
	var d documentView
	if status := s.call(t, "POST", webhooks+"/document?projectId=default&wait=true", body, &d); status != http.StatusOK || d.Status != "published" {
		t.Fatalf("status %d, document %+v", status, d)
	}
	return d
}

// publishLeave publishes three documents about the leave in a company.
func (s *server) publishLeave(t *testing.T) {
	t.Helper()
	s.publishWith(t, "leave", "Everybody at the company has thirty days of leave in a year. The head of the department approves the leave of its people.",
		map[string]any{"tags": []string{"leave"}, "metadata": map[string]any{"entities": []string{"Heron"}}})
	s.publishWith(t, "urlaub", "Alle Mitarbeiterinnen und Mitarbeiter haben im Jahr dreißig Tage Urlaub, den die Leitung der Abteilung genehmigen muss.",
		map[string]any{"tags": []string{"leave"}})
	s.publishWith(t, "travel", "The company pays for travel by train, and the head of the department approves the travel of its people before it begins.",
		map[string]any{"tags": []string{"travel"}})
}

// foundView is what these tests read of /retrieve-context?explain=true.
type foundView struct {
	Chunks []struct {
		DocumentName string         `json:"documentName"`
		Explain      map[string]any `json:"explain"`
	} `json:"chunks"`
	Choices map[string]any `json:"choices"`
}

func (f foundView) documents() string {
	var names []string
	for _, c := range f.Chunks {
		names = append(names, c.DocumentName)
	}
	return strings.Join(names, " ")
}

// TestSearchChoices turns on every stage that chooses, and reads the choices where readers
// are shown them.
func TestSearchChoices(t *testing.T) {
	t.Parallel()
	const (
		asked    = "How many days of leave are there at Heron, and who approves it?"
		enhanced = "How many days of leave does Heron give in a year, and who approves them?"
		german   = "Wie viele Tage Urlaub gibt es, und wer genehmigt ihn?"
		passage  = "Everybody has thirty days of leave, which the head approves."
	)
	m := standIn(t, modeltest.Options{Tools: map[string]string{
		"rewrite_question":   `{"question":"` + enhanced + `"}`,
		"split_question":     `{"questions":["How many days of leave are there?","Who approves leave?"],"several":[]}`,
		"write_passage":      `{"passage":"` + passage + `"}`,
		"choose_filters":     `{"tags":["leave"],"filters":[]}`,
		"translate_question": `{"translations":[{"language":"deu","question":"` + german + `"}]}`,
		"keep_sentences":     `{"passages":[[1],[1]]}`,
		"grade_passages":     `{"grades":[9,3]}`,
	}})
	s := start(t, at(m.URL())...)
	s.publishLeave(t)
	all := map[string]any{"enhanceQuery": true, "selfQuery": "enabled", "retrieval": map[string]any{
		"strategy": "multi_stage", "reranker": "judge", "decompose": true, "hyde": true, "compress": true, "route": true, "translate": true, "entities": true,
	}}
	s.setAI(t, all)
	want := map[string]any{
		"question": enhanced, "strategy": "multi_stage", "questions": []any{"How many days of leave are there?", "Who approves leave?"}, "passage": passage,
		"filter":   []any{map[string]any{"field": "tags", "type": "in", "value": []any{"leave"}}},
		"entities": []any{"Heron"}, "translations": map[string]any{"deu": german},
	}

	var found foundView
	s.call(t, "POST", webhooks+"/retrieve-context?explain=true", map[string]any{"text": asked, "projectId": "default"}, &found)
	if diff := cmp.Diff(want, found.Choices); diff != "" {
		t.Errorf("retrieve-context: %s", diff)
	}
	if got := found.documents(); got != "leave urlaub" && got != "urlaub leave" {
		t.Fatalf("found %s", got)
	}
	for _, c := range found.Chunks {
		if c.Explain["rerank"] == nil || c.Explain["bm25"] == nil || (c.Explain["linked"] != nil) != (c.DocumentName == "leave") {
			t.Errorf("%s is explained by %v", c.DocumentName, c.Explain)
		}
	}

	run := s.ask(t, webhooks+"/query", map[string]any{"text": asked, "projectId": "default", "sse": true, "toolChoice": "none"})
	shown := 0
	for _, e := range s.follow(t, run.run, 0) {
		var data map[string]any
		e.decode(t, &data)
		switch e.Name {
		case "searchChoices":
			shown++
			if diff := cmp.Diff(want, data); diff != "" {
				t.Errorf("event: %s", diff)
			}
		case "completedMessage":
			shown++
			if diff := cmp.Diff([]any{want}, data["searches"]); diff != "" {
				t.Errorf("answer: %s", diff)
			}
		}
	}
	if shown != 2 {
		t.Errorf("%d of 2 events show the choices", shown)
	}

	t.Run("a reranker that fails is named, and the order of the search stands", func(t *testing.T) {
		s.setAI(t, map[string]any{"enhanceQuery": false, "selfQuery": "disabled", "retrieval": nil})
		s.setAI(t, map[string]any{"retrieval": map[string]any{"reranker": "judge"}})
		m.ScriptChat(modeltest.Text("I cannot grade them."))
		s.wantFailure(t, "default", "reranker")
	})
	t.Run("an embedding model that fails is named, and the question is searched by words", func(t *testing.T) {
		var project struct{ ID string }
		s.call(t, "POST", webhooks+"/projects", map[string]any{"name": "apart", "ai": map[string]any{"embeddings": map[string]any{"model": "another"}}}, &project)
		text := map[string]string{"text": "Everybody at Heron has thirty days of leave."}
		s.call(t, "POST", webhooks+"/document?wait=true&projectId="+project.ID, map[string]any{"name": "leave", "content": text}, nil)
		m.ScriptEmbeddings(modeltest.Fail(http.StatusNotFound))
		s.wantFailure(t, project.ID, "embeddings")
	})
}

// wantFailure asks a question, in whose search the next call of a model fails. Its event,
// its answer and /retrieve-context must name the setting whose stage failed.
func (s *server) wantFailure(t *testing.T, project, setting string) {
	t.Helper()
	want := map[string]any{"failures": map[string]any{setting: "model_failed"}}
	body := map[string]any{"text": "How many days of leave are there at Heron?", "projectId": project, "sse": true, "toolChoice": "none"}
	run := s.ask(t, webhooks+"/query", body)
	seen := map[string]any{}
	for _, e := range s.follow(t, run.run, 0) {
		if e.Name == "searchChoices" || e.Name == "completedMessage" {
			var data map[string]any
			e.decode(t, &data)
			seen[e.Name] = data
		}
	}
	answer, _ := seen["completedMessage"].(map[string]any)
	if diff := cmp.Diff([]any{want, []any{want}}, []any{seen["searchChoices"], answer["searches"]}); diff != "" || answer["sources"] == nil {
		t.Errorf("the failure of %s: %s; sources %v", setting, diff, answer["sources"])
	}
}

// TestSearchChoicesOffline: the offline model chooses tags by their words, and stages
// that it cannot do say so.
func TestSearchChoicesOffline(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publishLeave(t)
	s.setAI(t, map[string]any{"enhanceQuery": true, "selfQuery": "enabled", "retrieval": map[string]any{"hyde": true, "decompose": true, "translate": true}})
	ask := func(question string) (found foundView) {
		s.call(t, "POST", webhooks+"/retrieve-context", map[string]any{"text": question, "projectId": "default"}, &found)
		return found
	}
	found := ask("Who approves travel?")
	want := map[string]any{
		"filter":   []any{map[string]any{"field": "tags", "type": "in", "value": []any{"travel"}}},
		"failures": map[string]any{"hyde": "model_failed", "decompose": "model_failed", "translate": "model_failed"},
	}
	if diff := cmp.Diff(want, found.Choices); diff != "" || found.documents() != "travel" {
		t.Errorf("found %s, %s", found.documents(), diff)
	}
	if found = ask("Who approves?"); found.Choices["filter"] != nil || !strings.Contains(found.documents(), "leave") {
		t.Errorf("found %s, chose %v", found.documents(), found.Choices)
	}
}

// TestTagsOfProjects: the tags of a project, and those that are mandatory for a group,
// hold whatever a question says.
func TestTagsOfProjects(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publishLeave(t)
	s.setAI(t, map[string]any{"tags": []string{"leave", "travel"}, "mandatoryTags": []any{map[string]any{"users": []string{"ann"}, "tags": []string{"travel"}}}})
	find := func(user string) (found foundView) {
		body := map[string]any{"text": "Who approves it at the company?", "projectId": "default", "userId": user}
		s.call(t, "POST", webhooks+"/retrieve-context", body, &found)
		return found
	}
	if got := find("ann").documents(); got != "travel" {
		t.Errorf("ann finds %s", got)
	}
	if got := find("bob").documents(); !strings.Contains(got, "leave") || !strings.Contains(got, "travel") {
		t.Errorf("bob finds %s", got)
	}
	override := map[string]any{"text": "Who?", "projectId": "default", "userId": "ann", "projectConfigOverride": map[string]any{"ai": map[string]any{"mandatoryTags": nil}}}
	if status := s.call(t, "POST", webhooks+"/query", override, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("an override of mandatory tags: status %d", status)
	}
}
