package e2e_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestConsentOfASync follows two places, one of which is about a person, for a project that requires
// consents: its file is published once there is a consent, and is gone when that is withdrawn.
func TestConsentOfASync(t *testing.T) {
	t.Parallel()
	s := startForImports(t)
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"privacy": map[string]any{"consentRequired": true}}, nil); status != 200 {
		t.Fatalf("project: status %d", status)
	}
	about, other := newCloud(t), newCloud(t)
	about.world.Create(0, "ann.txt", false, "Ann keeps the quillobasalt.")
	other.world.Create(0, "lamp.txt", false, "Nobody keeps the lamp.")
	control := s.syncEnds(t, other.connect(t, s, client.NewSync{Every: "24h"}))
	wantSync(t, control, 1, 1, 0, 0, 0)
	y := s.syncEnds(t, about.connect(t, s, client.NewSync{Every: "24h", Subjects: []string{"ann"}}))
	wantSync(t, y, 1, 0, 0, 1, 0)
	if len(y.Subjects) != 1 || y.Subjects[0] != "ann" || len(y.Failures) != 1 || y.Failures[0].Error.Code != knowledge.CodeConsentMissing {
		t.Fatalf("without a consent the sync is %+v", y)
	}
	c, err := s.AddConsent(t.Context(), "ann", "records", "")
	if err != nil {
		t.Fatal(err)
	}
	wantSync(t, s.syncNow(t, y.ID), 1, 1, 0, 0, 0)
	published := func() (id string, names []string) {
		for _, d := range s.imported(t) {
			if d.Status != knowledge.StatusPublished {
				continue
			}
			if names = append(names, d.Name); d.Name == "ann.txt" {
				id = d.ID
			}
		}
		return id, names
	}
	id, names := published()
	if id == "" || len(names) != 2 {
		t.Fatalf("with the consent %v are published", names)
	}
	if w, err := s.WithdrawConsent(t.Context(), c.ID); err != nil || w.Removed != 1 {
		t.Fatalf("the withdrawal is %+v, %v", w, err)
	}
	s.awaitGone(t, id)
	s.syncNow(t, y.ID)
	s.syncNow(t, control.ID)
	if _, names := published(); len(names) != 1 || names[0] != "lamp.txt" {
		t.Errorf("after the withdrawal %v are published", names)
	}

	if y, err = s.ChangeSync(t.Context(), control.ID, map[string]any{"subjects": []string{"bob"}}); err != nil || len(y.Subjects) != 1 {
		t.Fatalf("the changed sync is %+v, %v", y, err)
	}
	if _, err := s.AddConsent(t.Context(), "bob", "records", ""); err != nil {
		t.Fatal(err)
	}
	s.syncNow(t, control.ID)
	for _, d := range s.imported(t) {
		if d.Name == "lamp.txt" && (len(d.Subjects) != 1 || d.Subjects[0] != "bob") {
			t.Errorf("after the change the document is about %v", d.Subjects)
		}
	}
}
