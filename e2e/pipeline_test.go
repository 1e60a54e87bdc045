package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// stepper is a program that does steps of a pipeline, each at a path of its own.
type stepper struct {
	t   *testing.T
	url string

	mu    sync.Mutex
	asked map[string][]map[string]any // what each path was sent
	ids   map[string][]string         // webhook-ids by path
	do    map[string]func(given map[string]any) (status int, answer string)
}

func newStepper(t *testing.T) *stepper {
	t.Helper()
	st := &stepper{t: t, asked: map[string][]map[string]any{}, ids: map[string][]string{}, do: map[string]func(map[string]any) (int, string){}}
	server := httptest.NewServer(st)
	t.Cleanup(server.Close)
	st.url = server.URL
	return st
}

// ServeHTTP implements http.Handler.
func (st *stepper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	verifier, wrong := standardwebhooks.NewWebhook(hookSecret)
	var given map[string]any
	if err != nil || wrong != nil || verifier.Verify(body, r.Header) != nil || json.Unmarshal(body, &given) != nil {
		st.t.Errorf("%s: the request is not signed: %v, %v, %.300s", r.URL.Path, err, wrong, body)
		return
	}
	st.mu.Lock()
	st.asked[r.URL.Path] = append(st.asked[r.URL.Path], given)
	st.ids[r.URL.Path] = append(st.ids[r.URL.Path], r.Header.Get("webhook-id"))
	do := st.do[r.URL.Path]
	st.mu.Unlock()
	status, answer := do(given)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer) // a server that was killed reads nothing
}

// count returns how often a path was asked.
func (st *stepper) count(path string) int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.asked[path])
}

// last returns what a path was sent last.
func (st *stepper) last(path string) map[string]any {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.asked[path]) == 0 {
		return nil
	}
	return st.asked[path][len(st.asked[path])-1]
}

// at makes an address of a step, which answers as do says.
func (st *stepper) at(path string, do func(given map[string]any) (int, string)) map[string]any {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.do[path] = do
	return map[string]any{"url": st.url + path}
}

// says returns a step that always answers the same.
func says(answer string) func(map[string]any) (int, string) {
	return func(map[string]any) (int, string) { return http.StatusOK, answer }
}

// pipeline sets the steps of the default project.
func (s *server) pipeline(t *testing.T, steps ...map[string]any) (outdated int) {
	t.Helper()
	var changed struct{ OutdatedDocuments *int }
	change := map[string]any{"callbackSecret": hookSecret, "pipeline": append([]map[string]any{}, steps...)}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, &changed); status != http.StatusOK {
		t.Fatalf("the pipeline is refused: status %d", status)
	}
	if changed.OutdatedDocuments == nil {
		t.Fatal("the change does not say how many documents are outdated")
	}
	return *changed.OutdatedDocuments
}

// stepsOf returns the steps of a run by their names.
func (s *server) stepsOf(t *testing.T, run string) map[string]knowledge.StepRun {
	t.Helper()
	found := map[string]knowledge.StepRun{}
	for _, e := range s.follow(t, run, 0) {
		if e.Name == "pipelineStep" {
			var one knowledge.StepRun
			e.decode(t, &one)
			found[one.Name] = one
		}
	}
	return found
}

// settled uploads a text and returns its document when its run has ended.
func (s *server) settled(t *testing.T, name, text string) (client.Document, string) {
	t.Helper()
	a := s.upload(t, name, text)
	if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
		t.Fatal(err)
	}
	return s.document(t, a.ID), a.RunID
}

func (s *server) parsedText(t *testing.T, document string) string {
	t.Helper()
	var content struct{ Blocks []struct{ Text string } }
	if status := s.call(t, "GET", "/workspaces/default/documents/"+document+"/parsed", nil, &content); status != http.StatusOK {
		t.Fatalf("parsed: status %d", status)
	}
	texts := []string{}
	for _, b := range content.Blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "|")
}

// embedsZebra is code that embeds the chunks of a document as another text, and sets a tag.
const embedsZebra = `import json, sys
given = json.load(sys.stdin)
assert given["at"] == "before_embedding", given
json.dump({"chunks": [{"index": c["index"], "embed": "zebra " + c["text"]} for c in given["chunks"]], "tags": ["embedded"]}, sys.stdout)`

// TestPipelineOfDocuments runs steps over documents, by an address and by code.
func TestPipelineOfDocuments(t *testing.T) {
	t.Parallel()
	s := startForHooks(t)
	st := newStepper(t)
	old := s.publish(t, "old", "The old lamp burns oil.")
	extracted := st.at("/extracted", func(given map[string]any) (int, string) {
		text := fmt.Sprint(given["blocks"])
		switch {
		case strings.Contains(text, "draft"):
			return http.StatusOK, `{"reject":{"reason":"drafts are not for readers"}}`
		case strings.Contains(text, "broken"):
			return http.StatusBadRequest, `{}`
		}
		return http.StatusOK, `{"blocks":[{"index":0,"text":"The harbour lamp burns gas."}],"metadata":{"checked":true},"tags":["lamp"]}`
	})
	code := map[string]any{"language": "python", "source": embedsZebra}
	steps := []map[string]any{{"at": "extracted", "name": "check", "webhook": extracted}, {"at": "before_embedding", "name": "embed", "code": code, "timeout": 60}}
	if outdated := s.pipeline(t, steps...); outdated != 1 {
		t.Errorf("%d documents are outdated, want %s", outdated, old.ID)
	}

	d, run := s.settled(t, "lamp", "The harbour lamp burns oil.")
	if text := s.parsedText(t, d.ID); d.Status != knowledge.StatusPublished || text != "The harbour lamp burns gas." {
		t.Errorf("the document is %s and reads %q", d.Status, text)
	}
	if slices.Sort(d.Tags); fmt.Sprint(d.Tags) != "[embedded lamp]" || d.Metadata["checked"] != true {
		t.Errorf("the tags are %v, the metadata %v", d.Tags, d.Metadata)
	}
	if found, err := s.retrieve(t.Context(), "zebra", "gas"); err != nil || len(found) != 1 || strings.Contains(found[0].Content, "zebra") {
		t.Errorf("the text that is embedded finds %+v, %v", found, err)
	}
	ran := s.stepsOf(t, run)
	if len(ran) != 2 || ran["check"].Status != knowledge.RunCompleted || !ran["check"].Changed || ran["embed"].Version == "" || st.count("/extracted") != 1 {
		t.Errorf("the steps are %+v after %d requests", ran, st.count("/extracted"))
	}

	broken, run := s.settled(t, "broken", "A broken lamp.")
	if ran := s.stepsOf(t, run); broken.Status != knowledge.StatusPublished || ran["check"].Status != knowledge.RunFailed || !strings.Contains(ran["check"].Message, "400") {
		t.Errorf("with a step that fails the document is %s after %+v", broken.Status, ran)
	}
	rejected, _ := s.settled(t, "draft", "This is a draft.")
	if rejected.Error == nil || rejected.Error.Code != knowledge.CodeStepRejected || !strings.Contains(rejected.Error.Message, "drafts are not for readers") {
		t.Errorf("a refused document has the error %+v", rejected.Error)
	}
	steps[0]["required"] = true
	if outdated := s.pipeline(t, steps...); outdated != 1 {
		t.Errorf("after required was set %d documents are outdated, want 1", outdated)
	}
	failed, _ := s.settled(t, "broken too", "Another broken lamp.")
	if failed.Error == nil || failed.Error.Code != knowledge.CodeStepFailed || !strings.Contains(failed.Error.Message, `"check"`) {
		t.Errorf("with a required step that fails the document has the error %+v", failed.Error)
	}
}

// TestPipelineOverKill kills the server while the second step of a document and of a question
// runs. The first one has ended, and is not asked again.
func TestPipelineOverKill(t *testing.T) {
	t.Parallel()
	s := startForHooks(t)
	st := newStepper(t)
	waits := map[string]chan struct{}{"/embedding": make(chan struct{}), "/answer": make(chan struct{})}
	slow := func(path string) map[string]any {
		return st.at(path, func(map[string]any) (int, string) {
			if st.count(path) == 1 { // the first request, whose server dies
				<-waits[path]
			}
			return http.StatusOK, `{}`
		})
	}
	s.pipeline(t,
		map[string]any{"at": "extracted", "required": true, "timeout": 60, "webhook": st.at("/extracted", says(`{"tags":["seen"]}`))},
		map[string]any{"at": "before_embedding", "required": true, "timeout": 60, "webhook": slow("/embedding")},
		map[string]any{"at": "before_prompt", "required": true, "timeout": 60, "webhook": st.at("/prompt", says(`{"instructions":"Be brief."}`))},
		map[string]any{"at": "after_answer", "required": true, "timeout": 60, "webhook": slow("/answer")})
	over := func(path string) {
		t.Helper()
		awaitCount(t, st, path, 1)
		s.kill()
		close(waits[path])
		s.restart()
	}
	a := s.upload(t, "lamp", "The harbour lamp burns gas.")
	over("/embedding")
	if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
		t.Fatal(err)
	}
	if d := s.document(t, a.ID); d.Status != knowledge.StatusPublished || st.count("/extracted") != 1 || st.count("/embedding") != 2 {
		t.Errorf("the document is %s after %d and %d requests, want 1 and 2", d.Status, st.count("/extracted"), st.count("/embedding"))
	}
	asked := s.query(t, "What does the harbour lamp burn?")
	over("/answer")
	if got := read(t, s.follow(t, asked.run, 0)); got.last.Name != client.EventCompleted || st.count("/prompt") != 1 || st.count("/answer") != 2 {
		t.Errorf("the run ended with %s after %d and %d requests, want 1 and 2", got.last.Name, st.count("/prompt"), st.count("/answer"))
	}
	for path, ids := range st.ids {
		if len(slices.Compact(slices.Clone(ids))) != 1 {
			t.Errorf("%s was asked under the ids %v, want one", path, ids)
		}
	}
}

func awaitCount(t *testing.T, st *stepper, path string, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); st.count(path) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s was asked %d times, want %d", path, st.count(path), n)
		}
	}
}

// TestPipelineOfImports imports objects into a project with steps.
func TestPipelineOfImports(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	for i := range 5 {
		b.put(fmt.Sprintf("notes/%d.txt", i), fmt.Sprintf("Note %d is about lamps.", i))
	}
	b.put("notes/draft.txt", "This note is a draft.")
	s := startForImports(t)
	st := newStepper(t)
	s.pipeline(t, map[string]any{"at": "extracted", "required": true, "webhook": st.at("/extracted", func(given map[string]any) (int, string) {
		if strings.Contains(fmt.Sprint(given["blocks"]), "draft") {
			return http.StatusOK, `{"reject":{"reason":"a draft"}}`
		}
		return http.StatusOK, `{"tags":["stepped"]}`
	})})
	i := s.awaitImport(t, s.begin(t, client.NewImport{Source: b.source("notes/")}).ID)
	wantCounts(t, i, counts{discovered: 6, published: 5, failed: 1})
	list := s.imported(t)
	for _, d := range list {
		if d.Status == knowledge.StatusPublished && !slices.Contains(d.Tags, "stepped") {
			t.Errorf("document %s has the tags %v", d.Name, d.Tags)
		}
	}
	if st.count("/extracted") != 6 {
		t.Errorf("the step was asked %d times for 6 objects", st.count("/extracted"))
	}
}

// keepsLast is code that lets the model read the last passage alone.
const keepsLast = `import json, sys
given = json.load(sys.stdin)
json.dump({"passages": [given["passages"][-1]["id"]], "instructions": "Answer in one sentence."}, sys.stdout)`

// TestPipelineOfQuestions runs steps over questions, by code and by an address.
func TestPipelineOfQuestions(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	st := newStepper(t)
	for i := range 3 {
		s.publish(t, fmt.Sprint("lamp ", i), fmt.Sprintf("The harbour lamp %d burns gas.", i))
	}
	answer := st.at("/answer", func(given map[string]any) (int, string) {
		switch question := fmt.Sprint(given["question"]); {
		case strings.Contains(question, "refused"):
			return http.StatusOK, `{"reject":{"reason":"no advice on lamps"}}`
		case strings.Contains(question, "broken"):
			return http.StatusBadRequest, ``
		}
		return http.StatusOK, `{"answer":"It burns gas. [1] It burns oil. <source_9>"}`
	})
	choose := map[string]any{"at": "before_prompt", "name": "choose", "timeout": 60, "code": map[string]any{"language": "python", "source": keepsLast}}
	try := map[string]any{"step": choose, "question": "What does the harbour lamp burn?"} // the first code after a start waits for the check of the sandbox
	if status := s.call(t, "POST", "/workspaces/default/projects/default/pipeline/try", try, nil); status != http.StatusOK {
		t.Fatalf("try: status %d", status)
	}
	steps := []map[string]any{choose, {"at": "after_answer", "name": "check", "webhook": answer}}
	s.pipeline(t, steps...)
	asked := s.query(t, "What does the harbour lamp burn?")
	got := read(t, s.follow(t, asked.run, 0))
	if got.text != got.answer.Text || got.resets != 1 || citationMark.ReplaceAllString(got.text, "[$1]") != "It burns gas. [1] It burns oil." {
		t.Errorf("the stream ends with %q after %d resets, the answer is %q", got.text, got.resets, got.answer.Text)
	}
	if len(got.answer.Sources) != 1 || len(st.last("/answer")["sources"].([]any)) != 1 {
		t.Errorf("the sources are %+v, want the one that the step chose", got.answer.Sources)
	}
	requests := m.Requests()
	var prompt string
	for _, message := range requests[len(requests)-1].Messages {
		prompt += string(message.Content)
	}
	if !strings.Contains(prompt, "Answer in one sentence.") || strings.Count(prompt, "burns gas") != 1 {
		t.Errorf("the prompt is %s", prompt)
	}
	if ran := s.stepsOf(t, asked.run); !ran["choose"].Changed || !ran["check"].Changed {
		t.Errorf("the steps are %+v", ran)
	}
	s.wantStepsElsewhere(t)
	s.wantFailingSteps(t, steps)
}

// wantStepsElsewhere asks by the doors that do not stream Cairn's events.
func (s *server) wantStepsElsewhere(t *testing.T) {
	t.Helper()
	var whole struct{ Answer string }
	body := map[string]any{"text": "What does the harbour lamp burn?", "projectId": "default"}
	if status := s.call(t, "POST", webhooks+"/query", body, &whole); status != http.StatusOK || citationMark.ReplaceAllString(whole.Answer, "[$1]") != "It burns gas. [1] It burns oil." {
		t.Errorf("without a stream: status %d, %q", status, whole.Answer)
	}
	var completion struct {
		Choices []struct{ Message struct{ Content string } }
	}
	chat := map[string]any{"model": "project:default", "messages": []map[string]any{{"role": "user", "content": "What does the harbour lamp burn?"}}}
	if status := s.call(t, "POST", webhooks+"/v1/chat/completions", chat, &completion); status != http.StatusOK || completion.Choices[0].Message.Content != "It burns gas. [1] It burns oil." {
		t.Errorf("a client of OpenAI: status %d, %+v", status, completion)
	}
}

// wantFailingSteps has the last step fail, required and not, and refuse an answer.
func (s *server) wantFailingSteps(t *testing.T, steps []map[string]any) {
	t.Helper()
	left := s.query(t, "Is the harbour lamp broken?")
	if got := read(t, s.follow(t, left.run, 0)); got.last.Name != client.EventCompleted || got.resets != 0 || got.answer.Text == "" {
		t.Errorf("with a step that fails the run ended with %s", got.last.Name)
	}
	if ran := s.stepsOf(t, left.run); ran["check"].Status != knowledge.RunFailed || !strings.Contains(ran["check"].Message, "400") {
		t.Errorf("the step that failed is %+v", ran["check"])
	}
	steps[1]["required"] = true
	s.pipeline(t, steps...)
	for question, want := range map[string]string{"Is the harbour lamp broken?": "step_failed", "Is it refused?": "step_rejected"} {
		asked := s.query(t, question)
		got := read(t, s.follow(t, asked.run, 0))
		if got.last.Name != "error" || !strings.Contains(string(got.last.Data), want) || got.text != "" {
			t.Errorf("%s: the run ended with %s %s and the words %q", question, got.last.Name, got.last.Data, got.text)
		}
	}
	for name, tt := range map[string]struct {
		more   map[string]any
		status int
	}{
		"a question without the steps": {map[string]any{"projectConfigOverride": map[string]any{"pipeline": []any{}}}, http.StatusUnprocessableEntity},
		"a research":                   {map[string]any{"deepResearch": true}, http.StatusConflict},
	} {
		body := map[string]any{"text": "What do lamps burn?", "projectId": "default"}
		maps.Copy(body, tt.more)
		if status := s.call(t, "POST", webhooks+"/query", body, nil); status != tt.status {
			t.Errorf("%s: status %d, want %d", name, status, tt.status)
		}
	}
}
