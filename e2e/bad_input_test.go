package e2e_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
)

// witness is a document that bad input must not change.
type witness struct {
	document client.Document
	passages []passage
}

const witnessQuestion = "How often is the lamp of the lighthouse cleaned?"

func (s *server) witness(t *testing.T, id string) witness {
	t.Helper()
	found, err := s.retrieve(t.Context(), witnessQuestion, "lamp of the lighthouse")
	if err != nil {
		t.Fatal(err)
	}
	d := s.document(t, id)
	return witness{d, found}
}

// TestBadInput sends one server input that it must refuse or end with a stated
// error, and then checks that nothing else has changed.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := start(t, "CAIRN_LIMITS__PARSE_SECONDS=10", "CAIRN_LIMITS__PARSE_MEMORY=300000000")
	d := s.publish(t, "lighthouse", "The lamp of the lighthouse is cleaned every Tuesday.")
	before := s.witness(t, d.ID)

	t.Run("a request", func(t *testing.T) { badRequests(t, s) })
	t.Run("a question", func(t *testing.T) { badQuestions(t, s) })
	t.Run("a filter", func(t *testing.T) { badFilters(t, s, d.ID) })
	t.Run("a file", func(t *testing.T) { badFiles(t, s) })
	t.Run("a PDF", func(t *testing.T) { badPDFs(t, s) })
	t.Run("a kind of file that is not supported", func(t *testing.T) { unsupportedFiles(t, s) })
	t.Run("real files of the supported kinds", func(t *testing.T) { supportedFiles(t, s) })

	t.Run("leaves everything else as it was", func(t *testing.T) {
		after := s.witness(t, d.ID)
		if len(after.passages) != 1 {
			t.Errorf("the passage is found as %v", after.passages)
		}
		if diff := cmp.Diff(before.document, after.document); diff != "" {
			t.Errorf("another document changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(before.passages, after.passages); diff != "" {
			t.Errorf("its passages changed (-before +after):\n%s", diff)
		}
	})
	t.Run("leaves the server and its parsers alive", func(t *testing.T) {
		select {
		case <-s.child.Done():
			t.Fatal("the server has ended")
		default:
		}
		s.publish(t, "afterwards", "A new document is still taken in.")
		mediaType, body := form(t, nil, file{"after.pdf", textPDF([][]string{{"A new PDF is still read."}})})
		if res, answer := s.raw(t, "POST", filesRoute, mediaType, body); res.StatusCode != http.StatusAccepted {
			t.Errorf("status %d, %s", res.StatusCode, answer)
		}
		var answer client.Answer
		status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": witnessQuestion, "projectId": "default"}, &answer)
		if status != http.StatusOK || !strings.Contains(answer.Text, "every Tuesday") {
			t.Errorf("status %d, answer %q", status, answer.Text)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		log, err := os.ReadFile(s.log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "panic") || strings.Contains(line, `"code":"internal"`) {
				t.Errorf("the log reports a defect: %.600s", line)
			}
		}
	})
}
