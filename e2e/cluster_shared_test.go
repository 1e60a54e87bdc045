package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// sharesState has two APIs and two workers do together what one process could decide from
// its memory.
func (c *cluster) sharesState(t *testing.T, one, two *server) {
	t.Helper()
	t.Run("an upload goes on while a worker starts and sweeps", func(t *testing.T) {
		file := &slowFile{words: strings.NewReader(strings.Repeat("The eastern pier has a crane. ", 5000)), fast: 100_000, slow: make(chan struct{}), proceed: make(chan struct{})}
		ended := make(chan error, 1)
		var d client.Document
		go func() {
			var err error
			d, err = one.UploadFile(t.Context(), client.Upload{Project: "default", Name: "cranes.txt", Open: func() (io.ReadCloser, error) { return io.NopCloser(file), nil }})
			ended <- err
		}()
		select {
		case <-file.slow:
		case err := <-ended:
			t.Fatalf("the upload ended early: %v", err)
		}
		late, _ := c.worker()
		close(file.proceed)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		two.published(t, []string{d.RunID})
		late.stop()
	})
	t.Run("one Idempotency-Key at both is one document", func(t *testing.T) {
		var made [2]accepted
		var both sync.WaitGroup
		for i, s := range []*server{one, two} {
			both.Go(func() {
				body := map[string]any{"name": "once", "content": map[string]string{"text": "The western pier has a bell."}}
				if status := s.call(t, "POST", webhooks+"/document?projectId=default", body, &made[i], "Idempotency-Key", "both"); status != http.StatusAccepted {
					t.Errorf("status %d", status)
				}
			})
		}
		both.Wait()
		if made[0].ID == "" || made[0].ID != made[1].ID || made[0].RunID != made[1].RunID {
			t.Errorf("made as %+v", made)
		}
	})
	t.Run("a limit counts the questions of both", func(t *testing.T) {
		var project struct{ ID string }
		if status := one.call(t, "POST", webhooks+"/projects", map[string]any{"name": "limited", "limits": map[string]any{"queriesPerMinute": 2}}, &project); status >= 300 {
			t.Fatalf("status %d", status)
		}
		question := map[string]any{"text": "What is on the pier?", "projectId": project.ID}
		for i, s := range []*server{one, two, one, two} {
			status, code := s.refusal(t, webhooks+"/query", question)
			if i < 2 && status != http.StatusOK || i >= 2 && (status != http.StatusTooManyRequests || code != string(knowledge.CodeRateLimited)) {
				t.Errorf("question %d: status %d, %s", i+1, status, code)
			}
		}
	})
	t.Run("limits of requests and of a day hold over both", func(t *testing.T) { sharesLimits(t, one, two) })
	t.Run("the last of two changes is in the index", func(t *testing.T) {
		d := one.publish(t, "gates", "The harbour gate closes at nine.")
		for i := range 6 {
			s := []*server{one, two}[i%2]
			if status := s.call(t, "PATCH", "/workspaces/default/documents/"+d.ID, map[string]any{"tags": []string{fmt.Sprint("gate-", i)}}, nil); status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
		}
		for i := range 6 {
			await(t, time.Minute, fmt.Sprintf("the index has the last tag, looking for gate-%d", i), func(context.Context) error {
				var found foundView
				filter := []map[string]any{{"field": "tags", "type": "eq", "value": fmt.Sprint("gate-", i)}}
				one.call(t, "POST", webhooks+"/retrieve-context", map[string]any{"text": "When does the harbour gate close?", "projectId": "default", "filters": filter}, &found)
				if (len(found.Chunks) > 0) != (i == 5) {
					return errors.New("it has not")
				}
				return nil
			})
		}
	})
}

// slowFile is a file whose reader stops after some bytes, until it may continue.
type slowFile struct {
	words   *strings.Reader
	fast    int // bytes
	read    int
	slow    chan struct{} // closed when it stops
	proceed chan struct{}
}

// Read implements io.Reader.
func (f *slowFile) Read(p []byte) (int, error) {
	if f.read >= f.fast {
		close(f.slow)
		<-f.proceed
		f.fast = 1 << 30
	}
	n, err := f.words.Read(p[:min(len(p), 10_000)])
	f.read += n
	return n, err
}
