package e2e_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	temporal "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// operator returns Temporal's own client of the server.
func (s *server) operator(t *testing.T) temporal.Client {
	t.Helper()
	namespace := s.namespace
	if namespace == "" {
		namespace = "cairn"
	}
	c, err := temporal.DialContext(t.Context(), temporal.Options{
		HostPort: s.ends.Temporal, Namespace: namespace, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRunsThatAreEndedEarly(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 2000, TokenDelay: 20 * time.Millisecond})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	const question = "What is on the northern pier?"

	t.Run("a question is canceled", func(t *testing.T) {
		a := s.begun(t, question, 3)
		if err := s.CancelRun(t.Context(), a.run); err != nil {
			t.Fatal(err)
		}
		s.wantEnd(t, a.run, "canceled", knowledge.CodeCanceled)
		if err := s.CancelRun(t.Context(), a.run); err != nil {
			t.Errorf("to cancel it again: %v", err)
		}
	})

	t.Run("a question is terminated from outside", func(t *testing.T) {
		a := s.begun(t, question, 3)
		before := s.partial(t, a.run, 3)
		if err := s.operator(t).TerminateWorkflow(t.Context(), "query/default/"+a.run, "", "a test"); err != nil {
			t.Fatal(err)
		}
		terminated := time.Now()
		list := s.wantEnd(t, a.run, "failed", knowledge.CodeInternal)
		if took := time.Since(terminated); took > 15*time.Second { // the sweep would take a minute
			t.Errorf("readers were told after %v", took)
		}
		if len(list) < len(before) || list[2].Name != before[2].Name || string(list[2].Data) != string(before[2].Data) {
			t.Errorf("what readers had seen is not in the log: %v", list)
		}
	})

	t.Run("a document is canceled, says so, and can be retried", func(t *testing.T) {
		m.ScriptEmbeddings(modeltest.Hang())
		asked := m.Totals().Embeddings.Asked
		a := s.upload(t, "foghorn", "The southern pier has a foghorn.")
		if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked > asked }); err != nil {
			t.Fatal(err)
		}
		if err := s.CancelRun(t.Context(), a.RunID); err != nil {
			t.Fatal(err)
		}
		s.wantEnd(t, a.RunID, "canceled", knowledge.CodeCanceled)
		d := s.document(t, a.ID)
		if d.Status != knowledge.StatusError || d.Error == nil || d.Error.Code != knowledge.CodeCanceled || d.Error.Stage != knowledge.StageEmbed {
			t.Errorf("the document is %s with %+v; want error, canceled, embed", d.Status, d.Error)
		}
		again, err := s.RetryDocument(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Wait(t.Context(), again.RunID, nil); err != nil {
			t.Fatal(err)
		}
		if d := s.document(t, a.ID); d.Status != knowledge.StatusPublished {
			t.Errorf("after the retry the document is %s, %+v", d.Status, d.Error)
		}
	})

	t.Run("a document whose workflow was terminated resumes after a restart", func(t *testing.T) {
		m.ScriptEmbeddings(modeltest.Hang())
		asked := m.Totals().Embeddings.Asked
		a := s.upload(t, "beacon", "The eastern pier has a beacon.")
		if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked > asked }); err != nil {
			t.Fatal(err)
		}
		if err := s.operator(t).TerminateWorkflow(t.Context(), "ingest/default/"+a.ID, "", "a test"); err != nil {
			t.Fatal(err)
		}
		s.kill()
		s.restart()
		s.awaitPublished(t, 3)
	})

	t.Run("an unknown run is not found", func(t *testing.T) {
		if status := s.call(t, "POST", "/runs/00000000-0000-4000-8000-000000000000/cancel", nil, nil); status != http.StatusNotFound {
			t.Errorf("status %d, want 404", status)
		}
	})
}

// partial reads the first n events of a run that has not ended.
func (s *server) partial(t *testing.T, run string, n int) []event {
	t.Helper()
	res, err := s.send(t.Context(), "GET", "/runs/"+run+"/events?compact=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list []event
	if _, err := events(res.Body, 0, func(e event) bool { list = append(list, e); return len(list) < n }); err != nil || len(list) < n {
		t.Fatalf("%d events of %d, %v", len(list), n, err)
	}
	return list
}

// wantEnd waits for an error event with a code and checks the run's state.
func (s *server) wantEnd(t *testing.T, run, status string, code knowledge.Code) []event {
	t.Helper()
	list := s.follow(t, run, 0)
	last := list[len(list)-1]
	var failure client.Failure
	last.decode(t, &failure)
	if last.Name != client.EventError || failure.Code != code || failure.Message == "" {
		t.Errorf("the run ended with %s %s; want error %s", last.Name, last.Data, code)
	}
	r, err := s.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != status || r.EndedAt == nil {
		t.Errorf("the run is %s, ended %v; want %s", r.Status, r.EndedAt, status)
	}
	return list
}
