package e2e_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// attachmentState is the data of attachmentUpdate, and a part of an answer.
type attachmentState struct {
	Name, Status string
	Error        *struct{ Code, Message string }
}

// TestQuestionWithAttachmentsOverAKill asks about two files of which one is broken, and
// kills the server while the question waits for them.
func TestQuestionWithAttachmentsOverAKill(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	m.ScriptEmbeddings(modeltest.Hang())
	m.ScriptChat(modeltest.Text("The keeper is Ondine. <source_1>"))
	s := start(t, at(m.URL())...)
	attached := s.ask(t, "/workspaces/default/webhooks/query?compact=true", map[string]any{
		"text": "Who is the keeper of the lighthouse?", "projectId": "default", "sse": true, "attachments": []any{
			map[string]any{"name": "keepers.txt", "content": map[string]any{"text": "The keeper of the lighthouse is called Ondine."}},
			map[string]any{"name": "broken.pdf", "content": map[string]any{"base64": "JVBERi0xLjQKYnJva2Vu"}},
		},
	})
	r := &reader{run: attached.run, body: attached}
	r.until(t, func(list []event) bool { return len(states(t, list)) >= 2 })
	if err := m.Wait(t.Context(), func(n modeltest.Totals) bool { return n.Embeddings.Asked > 0 }); err != nil {
		t.Fatal(err)
	}
	s.kill()
	s.restart()
	list := s.follow(t, attached.run, 0)
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
