package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// pierNames are the names of piers. Document i says how many lamps pier i has.
func pierNames(count int) []string {
	var names []string
	for i := range count {
		names = append(names, string(rune('A'+i/26))+"l"+string(rune('a'+i%26))+"nor")
	}
	return names
}

// publishPiers publishes a document for each pier, and returns their ids by the names of the piers.
func publishPiers(t *testing.T, s *server, names []string) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for i, name := range names {
		ids[name] = s.publish(t, "pier-"+name, fmt.Sprintf("The pier of %s has %d lamps, and its keeper watches the %shatch, the %sbuoy and the %srope.", name, 100+i, strings.ToLower(name), strings.ToLower(name), strings.ToLower(name))).ID
	}
	return ids
}

// questionWriter is a scripted model that writes questions about piers and answers them.
type questionWriter struct {
	names []string
	mu    sync.Mutex
	said  []string // by the person's side of each request
	delay time.Duration
}

var (
	pierFact  = regexp.MustCompile(`The pier of (\w+) has (\d+) lamps`)
	pierAsked = regexp.MustCompile(`pier of (\w+)(?: or (\w+))?`)
)

func (q *questionWriter) reply(r protocol.ChatRequest) modeltest.Reply {
	system, user := string(r.Messages[0].Content), string(r.Messages[len(r.Messages)-1].Content)
	q.mu.Lock()
	q.said = append(q.said, user)
	q.mu.Unlock()
	var text string
	switch facts := pierFact.FindAllStringSubmatch(user, -1); {
	case strings.Contains(system, "You write questions"):
		text = q.write(system, facts)
	case strings.Contains(system, "You are given no documents"):
		text = q.known(user)
	case strings.Contains(system, "from passages of documents"):
		text = q.fromPassages(user, facts)
	default: // the judge, of an answer whose numbers are not those of the reference
		text = `{"reason": "another number", "grade": 0}`
	}
	return modeltest.Reply{Text: text, Delay: q.delay}
}

// place returns which pier a name is.
func (q *questionWriter) place(name string) int {
	for i, other := range q.names {
		if other == name {
			return i
		}
	}
	return -1
}

func (q *questionWriter) write(system string, facts [][]string) string {
	name, lamps := facts[0][1], facts[0][2]
	i := q.place(name)
	question, answer := fmt.Sprintf("How many lamps has the pier of %s?", name), lamps+" lamps"
	switch {
	case strings.Contains(system, "admits"):
		if i%3 > 0 {
			question = fmt.Sprintf("Who painted the pier of %s?", name)
		}
		answer = ""
	case strings.Contains(system, "two of the passages"):
		question = fmt.Sprintf("Which has more lamps, the pier of %s or %s?", name, facts[1][1])
		answer = q.more(name, facts[1][1])
	case i == 0:
		return "I would rather not."
	case i == 1:
		answer = "7777 lamps"
	case i == 2:
		question = "Where do puffins like to nest in spring?"
	}
	encoded, _ := json.Marshal(map[string]any{"questions": []map[string]string{{"question": question, "answer": answer, "quote": facts[0][0]}}})
	return string(encoded)
}

func (q *questionWriter) more(a, b string) string {
	i, j := q.place(a), q.place(b)
	if i < j {
		a, b, i, j = b, a, j, i
	}
	return fmt.Sprintf("The pier of %s with %d lamps; %s has %d lamps.", a, 100+i, b, 100+j)
}

// known answers without a passage: only pier 3 is known to everybody.
func (q *questionWriter) known(user string) string {
	if m := pierAsked.FindStringSubmatch(user); m != nil && m[2] == "" && q.place(m[1]) == 3 {
		return "103 lamps"
	}
	return "UNKNOWN"
}

// fromPassages answers from passages. It is wrong about pier 4, and needs one passage only to compare
// pier 5.
func (q *questionWriter) fromPassages(user string, facts [][]string) string {
	asked := pierAsked.FindStringSubmatch(user[strings.LastIndex(user, "<question>"):])
	if asked == nil || strings.Contains(user[strings.LastIndex(user, "<question>"):], "painted") {
		return "UNKNOWN"
	}
	lamps := map[string]string{}
	for _, f := range facts {
		lamps[f[1]] = f[2]
	}
	_, first := lamps[asked[1]]
	_, second := lamps[asked[2]]
	switch {
	case asked[2] != "" && (first && second || q.place(asked[1]) == 5 || q.place(asked[2]) == 5):
		return q.more(asked[1], asked[2])
	case asked[2] != "" || !first:
		return "UNKNOWN"
	case q.place(asked[1]) == 4:
		return "It has 8888 lamps."
	}
	return "It has " + lamps[asked[1]] + " lamps."
}

// generated is a run that makes a test set, as the API shows it.
type generated struct {
	Status   string
	Progress knowledge.GenerationProgress
	Error    *struct{ Code, Message string }
}

func (s *server) generationEnds(t *testing.T, run string) (g generated) {
	t.Helper()
	await(t, 3*time.Minute, "the generation ends", func(context.Context) error {
		g = generated{}
		if status := s.call(t, "GET", "/runs/"+run, nil, &g); status != http.StatusOK || g.Status == "running" {
			return fmt.Errorf("status %d, it is %s, %+v", status, g.Status, g.Progress)
		}
		return nil
	})
	return g
}

// madeSet is a test set that a model made.
type madeSet struct {
	Count     int
	Generated *knowledge.GenerationProgress
	Items     []struct {
		Question, Reference, Kind string
		Passages                  []string
		Documents                 []string `json:"expected_documents"`
	}
}

// TestGeneratedTestSet has a model write questions of which some are bad, in each way that is
// checked, and looks at those that are kept.
func TestGeneratedTestSet(t *testing.T) {
	t.Parallel()
	q := &questionWriter{names: pierNames(30)}
	m := standIn(t, modeltest.Options{Reply: q.reply})
	s := start(t, at(m.URL())...)
	publishPiers(t, s, q.names)
	s.publish(t, "copy", "The pier of "+q.names[6]+" has 106 lamps, and its keeper watches a copied ledger, a pencil and a drawer.")
	s.publishIn(t, "default", "private", "The pier of Secrecy has 999 lamps, and nobody but its keeper watches the vault, the safe and the lock.", map[string]any{"access": map[string]any{"users": []string{"nobody"}}})
	editor := s.newKey(t, map[string]any{"name": "editor", "scopes": []string{"read", "write"}})
	code, out, said := command(t, nil, "test-sets", "generate", "--model", modeltest.ModelName, "--count", "100", "--name", "piers", "--url", s.ends.API, "--key", editor)
	if code != 0 || !strings.Contains(out, "dropped: ") || !strings.Contains(said, "questions are kept") {
		t.Fatalf("it ends with %d:\n%s\n%s", code, out, said)
	}
	var sets struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/test_sets?name=piers", nil, &sets)
	if len(sets.Data) != 1 {
		t.Fatalf("the test sets are %+v", sets)
	}
	var set madeSet
	s.call(t, "GET", "/workspaces/default/test_sets/"+sets.Data[0].ID+"?limit=200", nil, &set)
	if set.Generated == nil || set.Count != len(set.Items) || set.Generated.Kept != set.Count {
		t.Fatalf("%d questions, %+v", set.Count, set.Generated)
	}
	t.Logf("%d questions: %+v", set.Count, *set.Generated)
	for _, reason := range []string{"known", "disagrees", "ungrounded", "unreadable", "duplicate", "one_passage", "answerable", "not_found"} {
		if set.Generated.Dropped[reason] == 0 {
			t.Errorf("no question was dropped as %s: %v", reason, set.Generated.Dropped)
		}
	}
	q.want(t, set)
	for _, said := range q.said {
		if strings.Contains(said, "Secrecy") {
			t.Errorf("the model was shown a passage that the caller may not read: %.300s", said)
		}
	}
}

// want fails the test if a question is kept that should have been dropped.
func (q *questionWriter) want(t *testing.T, set madeSet) {
	t.Helper()
	kinds, seen := map[string]int{}, map[string]bool{}
	for _, item := range set.Items {
		kinds[item.Kind]++
		passages := 1
		if item.Kind == "comparison" {
			passages = 2
		}
		asked := pierAsked.FindStringSubmatch(item.Question)
		if len(item.Passages) != passages || asked == nil || seen[item.Question] {
			t.Errorf("kept: %+v", item)
			continue
		}
		seen[item.Question] = true
		i := q.place(asked[1])
		switch item.Kind {
		case "fact":
			if i < 5 || item.Reference != fmt.Sprintf("%d lamps", 100+i) || len(item.Documents) != 1 {
				t.Errorf("kept: %+v", item)
			}
		case "comparison":
			if i == 5 || q.place(asked[2]) == 5 {
				t.Errorf("one passage is enough for %+v", item)
			}
		case "unanswerable":
			if i%3 == 0 || item.Reference != "" {
				t.Errorf("kept: %+v", item)
			}
		}
	}
	if kinds["fact"] < 20 || kinds["comparison"] < 5 || kinds["unanswerable"] == 0 || kinds["unanswerable"] > 10 {
		t.Errorf("the kinds are %v", kinds)
	}
}

// TestKilledGeneration kills the server while a model makes a test set. No call that had an answer
// is made again.
func TestKilledGeneration(t *testing.T) {
	t.Parallel()
	const atATime = 4
	q := &questionWriter{names: pierNames(24), delay: 30 * time.Millisecond}
	m := standIn(t, modeltest.Options{Reply: q.reply})
	s := start(t, at(m.URL())...)
	publishPiers(t, s, q.names)
	var begun struct {
		ID    string
		RunID string `json:"run_id"`
	}
	if status := s.call(t, "POST", "/workspaces/default/test_sets/generate", map[string]any{"model": modeltest.ModelName, "count": 20}, &begun); status != http.StatusAccepted || begun.RunID != begun.ID {
		t.Fatalf("status %d, %+v", status, begun)
	}
	if status := s.call(t, "GET", "/workspaces/default/test_sets/"+begun.ID, nil, nil); status != http.StatusNotFound {
		t.Errorf("the test set is there before it is made: status %d", status)
	}
	if err := m.Wait(t.Context(), func(seen modeltest.Totals) bool { return seen.Chats.Answered >= 15 }); err != nil {
		t.Fatal(err)
	}
	s.kill()
	before := m.Totals().Chats
	s.restart()
	ended := s.generationEnds(t, begun.RunID)
	if ended.Status != "completed" || ended.Progress.Kept != 20 {
		t.Fatalf("it is %s, %+v, %+v", ended.Status, ended.Progress, ended.Error)
	}
	repeated := 0
	for _, c := range m.Chats() {
		repeated += c.Asked - 1
	}
	total := m.Totals().Chats
	t.Logf("%+v calls of the model at the kill, %+v in all, %d made again", before, total, repeated)
	if before.Asked >= total.Asked {
		t.Error("it had ended before the kill")
	}
	if repeated > atATime {
		t.Errorf("%d calls were made again", repeated)
	}
	var set madeSet
	if status := s.call(t, "GET", "/workspaces/default/test_sets/"+begun.ID, nil, &set); status != http.StatusOK || set.Count != 20 {
		t.Errorf("status %d, %d questions", status, set.Count)
	}
	last, err := s.Wait(t.Context(), begun.RunID, nil)
	if err != nil || last.Name != "runEnded" {
		t.Errorf("the last event is %s, %v", last.Name, err)
	}
}

// TestCanceledGeneration cancels a generation, which then makes no test set.
func TestCanceledGeneration(t *testing.T) {
	t.Parallel()
	q := &questionWriter{names: pierNames(24), delay: 50 * time.Millisecond}
	m := standIn(t, modeltest.Options{Reply: q.reply})
	s := start(t, at(m.URL())...)
	publishPiers(t, s, q.names)
	var begun struct {
		RunID string `json:"run_id"`
	}
	s.call(t, "POST", "/workspaces/default/test_sets/generate", map[string]any{"model": modeltest.ModelName, "count": 20}, &begun)
	if err := m.Wait(t.Context(), func(seen modeltest.Totals) bool { return seen.Chats.Answered >= 5 }); err != nil {
		t.Fatal(err)
	}
	if status := s.call(t, "POST", "/runs/"+begun.RunID+"/cancel", nil, nil); status != http.StatusOK && status != http.StatusAccepted {
		t.Fatalf("cancel: status %d", status)
	}
	if ended := s.generationEnds(t, begun.RunID); ended.Status != "canceled" {
		t.Errorf("it is %s, %+v", ended.Status, ended.Error)
	}
	if status := s.call(t, "GET", "/workspaces/default/test_sets/"+begun.RunID, nil, nil); status != http.StatusNotFound {
		t.Errorf("the test set: status %d", status)
	}
}

// recordedGeneration has a model write one question about a document, and returns the run.
func (s *server) recordedGeneration(t *testing.T, m *modeltest.Server) string {
	t.Helper()
	lights := s.publish(t, "lens", "The southern pier has a lantern whose refractor is a dioptric assembly of glass.")
	m.ScriptChat(
		modeltest.Text(`{"questions": [{"question": "What is the refractor of the lantern on the southern pier?", "answer": "a dioptric assembly", "quote": "whose refractor is a dioptric assembly of glass"}]}`),
		modeltest.Text("UNKNOWN"), modeltest.Text("The refractor is a dioptric assembly."),
	)
	var begun struct {
		RunID string `json:"run_id"`
	}
	body := map[string]any{"model": modeltest.ModelName, "count": 1, "filter": map[string]any{"document_ids": []string{lights.ID}}}
	if status := s.call(t, "POST", "/workspaces/default/test_sets/generate", body, &begun); status != http.StatusAccepted {
		t.Fatalf("generate: status %d", status)
	}
	if ended := s.generationEnds(t, begun.RunID); ended.Status != "completed" || ended.Progress.Kept != 1 {
		t.Fatalf("it is %s, %+v, %+v", ended.Status, ended.Progress, ended.Error)
	}
	return begun.RunID
}
