package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func names(list []event) string {
	var out []string
	for _, e := range list {
		if len(out) == 0 || out[len(out)-1] != e.Name {
			out = append(out, e.Name)
		}
	}
	return strings.Join(out, " ")
}

func TestRunEvents(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 60, TokenDelay: 5 * time.Millisecond})
	s := start(t, at(m.URL())...)
	upload := s.upload(t, "lights", "The northern pier has a lighthouse.")
	s.follow(t, upload.RunID, 0)
	const whole = "runStarted sendSourcesMessage apiMessageChunk sendSourcesMessage completedMessage"

	running := s.begun(t, "What is on the northern pier?", 2)
	t.Run("a run that goes on is followed to its end from any event", func(t *testing.T) {
		all, rest := s.follow(t, running.run, 0), s.follow(t, running.run, 3)
		if got := names(all); got != whole {
			t.Errorf("events %s", got)
		}
		if diff := cmp.Diff(all[3:], rest); diff != "" {
			t.Errorf("from event 4 on (-all +rest):\n%s", diff)
		}
	})

	t.Run("a run that ended is replayed the same and then says no more", func(t *testing.T) {
		s.wantReplay(t, running.run)
		s.wantReplay(t, upload.RunID)
	})

	t.Run("a WebSocket sends the same events", func(t *testing.T) {
		s.wantSocket(t, "What is on the northern pier?", whole)
	})

	t.Run("a place that is no number is refused", func(t *testing.T) {
		for _, after := range []string{"abc", "-1", "1.5"} {
			if status := s.call(t, "GET", "/runs/"+running.run+"/events?after="+after, nil, nil); status != http.StatusBadRequest {
				t.Errorf("after=%s returned %d, want 400", after, status)
			}
			if status := s.call(t, "GET", "/runs/"+running.run+"/events", nil, nil, "Last-Event-ID", after); status != http.StatusBadRequest {
				t.Errorf("Last-Event-ID %s returned %d, want 400", after, status)
			}
		}
	})

	t.Run("the token of an eventsUrl opens that run alone", func(t *testing.T) {
		address, token, found := strings.Cut(upload.EventsURL, "?")
		if !found || !strings.Contains(address, upload.RunID) || !strings.Contains(running.eventsURL, running.run) {
			t.Fatalf("eventsUrl %s of the document, %s of the question", upload.EventsURL, running.eventsURL)
		}
		for path, want := range map[string]int{
			upload.EventsURL:  http.StatusOK,
			running.eventsURL: http.StatusOK,
			address:           http.StatusUnauthorized,
			s.ends.API + "/runs/" + running.run + "/events?" + token: http.StatusUnauthorized,
			s.ends.API + "/runs/" + upload.RunID + "?" + token:       http.StatusUnauthorized,
		} {
			if status := s.call(t, "GET", path, nil, nil, "Authorization", ""); status != want {
				t.Errorf("GET %s without a key returned %d, want %d", path, status, want)
			}
		}
	})

	t.Run("an operatorUrl is a page that finds its workflow", func(t *testing.T) {
		s.wantPage(t, upload.RunID, "IngestDocument")
		s.wantPage(t, running.run, "AnswerQuery")
	})

	before := s.follow(t, running.run, 0)
	s.kill()
	s.restart()
	t.Run("a run that ended before the restart is replayed the same", func(t *testing.T) {
		if diff := cmp.Diff(before, s.follow(t, running.run, 0)); diff != "" {
			t.Errorf("events (-before +after):\n%s", diff)
		}
		s.wantReplay(t, running.run)
		s.wantReplay(t, upload.RunID)
	})
}

// wantReplay checks that the events of an ended run are the same each time, from
// any event on, and that none follows the last one.
func (s *server) wantReplay(t *testing.T, run string) {
	t.Helper()
	first, second := s.follow(t, run, 0), s.follow(t, run, 0)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two replays differ:\n%s", diff)
	}
	end := first[len(first)-1]
	if last := s.follow(t, run, end.ID-1); len(last) != 1 || last[0].ID != end.ID {
		t.Errorf("behind the last event but one: %v", last)
	}
	res, err := s.send(t.Context(), "GET", "/runs/"+run+"/events", nil, "Last-Event-ID", itoa(end.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); res.StatusCode != http.StatusNoContent || len(body) > 0 || err != nil {
		t.Errorf("behind the last event: status %d, %q, %v; want 204", res.StatusCode, body, err)
	}
}

// wantPage checks that a run's operatorUrl is a page of Temporal's UI, and that
// the UI finds the run's workflow by the id in the page's address.
func (s *server) wantPage(t *testing.T, run, kind string) {
	t.Helper()
	r, err := s.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.send(t.Context(), "GET", r.OperatorURL, nil, "Authorization", "")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(got, "text/html") {
		t.Errorf("%s: status %d, %s", r.OperatorURL, res.StatusCode, got)
	}
	var shown struct {
		Info struct {
			Execution struct{ WorkflowID, RunID string }
			Type      struct{ Name string }
		} `json:"workflowExecutionInfo"`
	}
	pages := s.ends.UI + "/namespaces/cairn/workflows/"
	id, found := strings.CutPrefix(r.OperatorURL, pages)
	if !found {
		t.Fatalf("operatorUrl is %s, want a page under %s", r.OperatorURL, pages)
	}
	// The UI reads the ids from its address and escapes them again.
	id, execution, _ := strings.Cut(strings.TrimSuffix(id, "/history"), "/")
	path := s.ends.UI + "/api/v1/namespaces/cairn/workflows/" + url.PathEscape(id) + "?execution.runId=" + execution
	if status := s.call(t, "GET", path, nil, &shown, "Authorization", ""); status != http.StatusOK {
		t.Fatalf("%s: status %d", path, status)
	}
	if shown.Info.Type.Name != kind || shown.Info.Execution.WorkflowID != r.WorkflowID || execution != "" && shown.Info.Execution.RunID != execution {
		t.Errorf("the page of %s is of %q, a %s; want a %s", r.WorkflowID, shown.Info.Execution.WorkflowID, shown.Info.Type.Name, kind)
	}
}

func TestStreamClients(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 100, TokenDelay: 20 * time.Millisecond})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	const question = "What is on the northern pier?"

	t.Run("one that reads nothing holds nobody", func(t *testing.T) {
		silent := s.query(t, question)
		list := s.follow(t, silent.run, 0)
		wantSame(t, "the reader beside it", read(t, list).text, read(t, list).answer.Text)
		var late []event
		if _, err := events(silent.body, 0, func(e event) bool { late = append(late, e); return true }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, late); diff != "" {
			t.Errorf("the late reader got something else:\n%s", diff)
		}
	})

	t.Run("one that reads a byte a second holds nobody", func(t *testing.T) {
		slow := s.query(t, question)
		stop, taken := make(chan struct{}), make(chan []byte)
		go func() {
			var head []byte
			second := time.NewTicker(time.Second)
			defer second.Stop()
			for {
				select {
				case <-stop:
					taken <- head
					return
				case <-second.C:
					var b [1]byte
					n, _ := slow.body.Read(b[:]) // the check below sees an early end
					head = append(head, b[:n]...)
				}
			}
		}()
		list := s.follow(t, slow.run, 0)
		close(stop)
		head := <-taken
		if len(head) > 20 {
			t.Fatalf("%d bytes were read: this reader is not slow", len(head))
		}
		var all []event
		if _, err := events(io.MultiReader(bytes.NewReader(head), slow.body), 0, func(e event) bool { all = append(all, e); return true }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, all); diff != "" {
			t.Errorf("the slow reader got something else:\n%s", diff)
		}
	})

	t.Run("one that leaves does not stop the run", func(t *testing.T) {
		a := s.begun(t, question, 3)
		if err := a.body.Close(); err != nil {
			t.Fatal(err)
		}
		if last, err := s.Wait(t.Context(), a.run, nil); err != nil || last.Name != client.EventCompleted {
			t.Errorf("the run ended with %s, %v", last.Name, err)
		}
	})

	t.Run("500 get the whole answer", func(t *testing.T) {
		const readers = 500
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		a := s.query(t, question)
		type outcome struct {
			list []event
			err  error
		}
		outcomes := make(chan outcome, readers)
		for range readers {
			go func() {
				list, err := s.read(ctx, a.run, 0)
				outcomes <- outcome{list, err}
			}()
		}
		want := s.follow(t, a.run, 0)
		wantSame(t, "the text", read(t, want).text, read(t, want).answer.Text)
		for range readers {
			got := <-outcomes
			if got.err != nil {
				t.Fatal(got.err)
			}
			if diff := cmp.Diff(want, got.list); diff != "" {
				t.Fatalf("a reader got something else:\n%s", diff)
			}
		}
	})
}
