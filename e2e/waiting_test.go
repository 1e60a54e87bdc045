package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestProviderThatLimits has a provider that asks for a pause of an hour: every document says
// so, they probe it one at a time meanwhile, and a retry ends the wait.
func TestProviderThatLimits(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	l := newLimiter(t, m.URL())
	s := start(t, at(l.url)...)
	s.publish(t, "before", "The northern pier has a lighthouse.")
	l.on.Store(true)
	began := time.Now()
	texts := map[string]string{"first": "The southern pier has a foghorn.", "second": strings.Repeat("The eastern pier has a beacon. ", 400)}
	var uploads []accepted
	for _, name := range []string{"first", "second"} { // the second comes when the provider's pause is known
		a := s.upload(t, name, texts[name])
		uploads = append(uploads, a)
		await(t, 20*time.Second, a.ID+" waits", func(context.Context) error {
			d := s.document(t, a.ID)
			if d.Waiting == nil {
				return fmt.Errorf("it is %s at %s and does not wait", d.Status, d.Stage)
			}
			return nil
		})
		d := s.document(t, a.ID)
		if until := time.Until(d.Waiting.NextAt); d.Status != knowledge.StatusPending || d.Stage != knowledge.StageEmbed || until > 5*time.Minute {
			t.Errorf("%s waits for %v at %s, %s", a.ID, until, d.Stage, d.Status)
		}
		if w := d.Waiting; w.Code != knowledge.CodeProviderFailed || w.Of != 60 || w.Message == "" || w.Since.IsZero() {
			t.Errorf("%s: %+v", a.ID, w)
		}
	}
	if n, after := l.refused.Load(), time.Since(began); n > 1 && after < 5*time.Second || n > 2 && after < 15*time.Second || n > 3 && after < 35*time.Second {
		t.Errorf("%d requests within %v while the provider asks for a pause", n, after)
	}

	t.Run("the events say so too", func(t *testing.T) {
		found := errors.New("found")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errors.New("no event says so"))
		defer cancel()
		for e, err := range s.Events(ctx, uploads[0].RunID, 0) {
			var d client.Document
			if err != nil || e.Decode(&d) == nil && d.Waiting != nil {
				found = err
				break
			}
		}
		if found != nil {
			t.Error(found)
		}
	})
	t.Run("a retry tries at once", func(t *testing.T) {
		l.on.Store(false)
		for _, a := range uploads {
			again, err := s.RetryDocument(t.Context(), a.ID)
			if err != nil || again.RunID != a.RunID {
				t.Fatalf("run %s, %v; want %s", again.RunID, err, a.RunID)
			}
			if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
				t.Fatal(err)
			}
			if d := s.document(t, a.ID); d.Status != knowledge.StatusPublished || d.Waiting != nil {
				t.Errorf("%s is %s, %+v", a.ID, d.Status, d.Waiting)
			}
		}
		for _, count := range m.Embeddings() {
			if count.Answered > 1 {
				t.Error("a batch was embedded twice")
			}
		}
	})
}
