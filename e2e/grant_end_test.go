package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestAGrantEndsWhileTheServerIsDead kills the server before the end of a grant and starts it after it:
// the first read is refused. Another document of the reader is the control.
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
	end := time.Now().Add(3 * time.Second).UTC().Truncate(time.Second)
	_, err := s.AddGrant(t.Context(), client.NewGrant{Subject: client.GrantSubject{User: "ann"}, Object: client.GrantObject{DocumentID: private}, Effect: "allow", Permission: "read", ExpiresAt: &end})
	if err != nil {
		t.Fatal(err)
	}
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
}
