package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestSyncedSharePoint mirrors the rights of a site: a person who may not read a file finds
// nothing of it, and a right that is withdrawn without a change of the file holds from the
// next run on, also that of a member of a group in a group.
func TestSyncedSharePoint(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	g.Permit("Sites.Read.All")
	fake := httptest.NewServer(g)
	t.Cleanup(fake.Close)
	s := startForImports(t)
	a := g.World.Create(0, "a.txt", false, "The password of the lamp is seagull.")
	g.World.Create(0, "b.txt", false, "The password of the horn is puffin.")
	g.World.Share(a, []string{"bob@example.org"}, nil)
	made, err := s.AddConnection(t.Context(), client.NewConnection{
		Type: "sharepoint", Options: map[string]string{"url": fake.URL, "tenant": sourcetest.MSTenant, "client_id": sourcetest.MSClient}, Secret: g.Secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	if check, err := s.CheckConnection(t.Context(), made.ID); err != nil || !check.OK {
		t.Fatalf("the service says %+v, %v", check, err)
	}
	y, err := s.AddSync(t.Context(), client.NewSync{
		ConnectionID: made.ID, ProjectID: "default", Every: "24h", Permissions: "mirror", Scope: map[string]string{"site": fake.URL + "/sites/legal", "drive": "Dokumente"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.awaitImport(t, y.LastRun.ID)
	if y, err = s.Sync(t.Context(), y.ID); err != nil || y.LastRun.Error == nil || !strings.Contains(y.LastRun.Error.Message, "Sites.FullControl.All") || y.Discovered != 0 {
		t.Fatalf("without the permission to read rights: %+v, %v", y, err)
	}
	g.Permit(sourcetest.MSMirrors()...)
	wantSync(t, s.syncNow(t, y.ID), 2, 2, 0, 0, 0)
	finds := func(user, word string) bool {
		t.Helper()
		var found json.RawMessage
		status := s.call(t, "POST", webhooks+"/retrieve-context", map[string]any{"text": "What is the password?", "userId": user + "@example.org", "projectId": "default"}, &found)
		if status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		return strings.Contains(string(found), word)
	}
	if !finds("ann", "seagull") || !finds("ann", "puffin") || !finds("bob", "seagull") || finds("bob", "puffin") || finds("eve", "seagull") {
		t.Error("somebody finds what another one may see")
	}
	g.World.Share(a, []string{"eve@example.org"}, nil)
	wantSync(t, s.syncNow(t, y.ID), 1, 1, 0, 0, 0)
	if !finds("ann", "seagull") || finds("bob", "seagull") || !finds("eve", "seagull") || finds("eve", "puffin") {
		t.Error("after the change somebody finds what another one may see")
	}
	g.World.Join("staff", "crew")
	g.World.Join("crew", "zoe@example.org", "staff")
	g.World.Share(a, nil, []string{"staff"})
	wantSync(t, s.syncNow(t, y.ID), 1, 1, 0, 0, 0)
	member := func(want bool) func(context.Context) error {
		return func(context.Context) error {
			if finds("zoe", "seagull") != want {
				return fmt.Errorf("zoe finds the passage: %t", !want)
			}
			return nil
		}
	}
	await(t, 30*time.Second, "zoe to find what her group may see", member(true))
	g.World.Join("crew", "bob@example.org", "staff")
	wantSync(t, s.syncNow(t, y.ID), 0, 0, 0, 0, 0)
	await(t, 30*time.Second, "zoe to find it no more", member(false))
	if !finds("ann", "seagull") || !finds("bob", "seagull") || finds("eve", "seagull") || finds("bob", "puffin") {
		t.Error("after a change of members somebody finds what another one may see")
	}
	before := s.imported(t)
	g.World.Move(a, 0, "renamed.txt")
	wantSync(t, s.syncNow(t, y.ID), 1, 1, 0, 0, 0)
	renamed := 0
	for address, d := range s.imported(t) {
		if d.ID != before[address].ID || d.PublishedVersion != 1 {
			t.Errorf("after a rename a document is %+v, was %+v", d, before[address])
		}
		if d.Name == "renamed.txt" {
			renamed++
		}
	}
	if renamed != 1 || len(before) != 2 {
		t.Errorf("%d of %d documents are renamed", renamed, len(before))
	}
	g.Asked()
	wantSync(t, s.syncNow(t, y.ID), 0, 0, 0, 0, 0)
	if asked := g.Asked(); asked > 7 { // two are for the pages of a group
		t.Errorf("a run without a change sent %d requests", asked)
	}
}
