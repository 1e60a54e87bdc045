package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/workflows"
)

// TestAGrantEndsWhileTheServerIsDead kills the server before the end of a grant and starts it after it:
// the first read is refused. Another document of the reader is the control. The audit has the end of
// this grant, and of one that ends under the eyes of the server, once each and not before its time.
func TestAGrantEndsWhileTheServerIsDead(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	private := s.publishIn(t, "default", "private", "The word of the day is Tourmaline.", map[string]any{"access": map[string]any{"users": []string{"nobody"}}})
	open := s.publishIn(t, "default", "open", "The word of the day is Feldspar.", nil)
	header := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})}
	opens := func(id string) int {
		t.Helper()
		res, _ := s.raw(t, "GET", "/workspaces/default/documents/"+id+"/content?userId=ann", "", nil, header...)
		return res.StatusCode
	}
	grant := func(user string, end time.Time) string {
		t.Helper()
		g, err := s.AddGrant(t.Context(), client.NewGrant{Subject: client.GrantSubject{User: user}, Object: client.GrantObject{DocumentID: private}, Effect: "allow", Permission: "read", ExpiresAt: &end})
		if err != nil {
			t.Fatal(err)
		}
		return g.ID
	}
	end := time.Now().Add(5 * time.Second).UTC().Truncate(time.Second)
	later := end.Add(20 * time.Second)
	grants := map[string]time.Time{grant("ann", end): end, grant("bob", later): later}
	if status := opens(private); status != http.StatusOK {
		t.Fatalf("with the grant she opens it with status %d", status)
	}
	s.kill()
	await(t, 10*time.Second, "the end of the grant is over", func(context.Context) error {
		if time.Now().Before(end) {
			return errors.New("it is not")
		}
		return nil
	})
	s.restart()
	if status := opens(private); status != http.StatusNotFound {
		t.Errorf("after its end she opens it with status %d", status)
	}
	if status := opens(open); status != http.StatusOK {
		t.Errorf("she opens the other document with status %d", status)
	}
	s.awaitEnds(t, grants)
	workflow := workflows.EndGrantsID("default")
	s.awaitClosed(t, workflow)
	if *updateHistories {
		record(t, "end_grants", s.history(t, workflow))
	}
}

// awaitEnds waits until the audit has the ends of grants, and checks that it has each once, and none
// before its time.
func (s *server) awaitEnds(t *testing.T, grants map[string]time.Time) {
	t.Helper()
	await(t, 2*time.Minute, "the audit has the ends of the grants", func(context.Context) error {
		entries, _ := s.audit(t, "default")
		seen := 0
		for _, e := range entries[""] {
			for _, id := range e.Details.Objects {
				if end, ok := grants[id]; ok && e.Action == "end-grants" {
					if seen++; e.At.Before(end) {
						t.Errorf("the grant that ends at %v ended at %v", end, e.At)
					}
				}
			}
		}
		if seen < len(grants) {
			return fmt.Errorf("it has %d of %d", seen, len(grants))
		}
		if seen > len(grants) {
			t.Errorf("it has %d ends of %d grants", seen, len(grants))
		}
		return nil
	})
}
