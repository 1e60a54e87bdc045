package e2e_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// attachmentState is the data of attachmentUpdate, and a part of an answer.
type attachmentState struct {
	Name, Status string
	Error        *struct{ Code, Message string }
}

// askForm asks a question by a form, which has the same Idempotency-Key each time.
func (s *server) askForm(t *testing.T, fields map[string]string, files ...file) asked {
	t.Helper()
	mediaType, body := form(t, fields, files...)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.ends.API+webhooks+"/query?compact=true", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", mediaType)
	r.Header.Set("Idempotency-Key", "the same question")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	return asked{run: res.Header.Get("Cairn-Run-Id"), body: res.Body}
}

// TestQuestionWithAttachmentsOverAKill asks about two files of a form, of which one is
// broken, and kills the server while the question waits for them. The form is then sent
// once more, as a client does whose connection broke.
func TestQuestionWithAttachmentsOverAKill(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	m.ScriptEmbeddings(modeltest.Hang())
	m.ScriptChat(modeltest.Text("The keeper is Ondine. <source_1>"))
	s := start(t, at(m.URL())...)
	fields := map[string]string{"text": "Who is the keeper of the lighthouse?", "projectId": "default", "sse": "true"}
	files := []file{{"keepers.txt", []byte("The keeper of the lighthouse is called Ondine.")}, {"broken.pdf", []byte("%PDF-1.4\nbroken")}}
	attached := s.askForm(t, fields, files...)
	r := &reader{run: attached.run, body: attached}
	r.until(t, func(list []event) bool { return len(states(t, list)) >= 2 })
	if err := m.Wait(t.Context(), func(n modeltest.Totals) bool { return n.Embeddings.Asked > 0 }); err != nil {
		t.Fatal(err)
	}
	s.kill()
	s.restart()
	again := s.askForm(t, fields, files...)
	if again.run != attached.run {
		t.Errorf("the same form started the run %s beside %s", again.run, attached.run)
	}
	var list []event // of the form's own answer, which shows the files as sources too
	if _, err := events(again.body, 0, func(e event) bool { list = append(list, e); return true }); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Answer, ConversationID string
		Attachments            []attachmentState
		Sources                []struct{ DocumentName string }
	}
	list[len(list)-1].decode(t, &answer)
	if list[len(list)-1].Name != "completedMessage" || !strings.Contains(answer.Answer, "Ondine") || len(answer.Attachments) != 2 {
		t.Fatalf("the run ended with %s", list[len(list)-1].Data)
	}
	good, bad := answer.Attachments[0], answer.Attachments[1]
	if good.Name != "keepers.txt" || good.Status != "published" || good.Error != nil || len(answer.Sources) != 1 || answer.Sources[0].DocumentName != good.Name {
		t.Errorf("answer %+v", answer)
	}
	if bad.Status != "error" || bad.Error == nil || bad.Error.Message == "" {
		t.Errorf("the broken file: %+v", bad)
	}
	if got := states(t, list); len(got) != 4 {
		t.Errorf("%d updates: %+v", len(got), got)
	}
	requests := m.Requests()
	if sent := string(requests[len(requests)-1].Messages[0].Content); len(requests) != 1 || !strings.Contains(sent, "Ondine") || !strings.Contains(sent, `"broken.pdf": not available`) {
		t.Errorf("%d model calls; the last read %s", len(requests), sent)
	}
	s.wantReplay(t, attached.run)
}

// states returns what became of attachments, as the events say.
func states(t *testing.T, list []event) (all []attachmentState) {
	t.Helper()
	for _, e := range list {
		if e.Name == "attachmentUpdate" {
			var state attachmentState
			e.decode(t, &state)
			all = append(all, state)
		}
	}
	return all
}
