package e2e_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsents withdraws a consent. Its documents vanish at once, what a hold keeps is hidden and
// named, and documents of others stay.
func TestConsents(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	about := func(name, person string) string {
		return s.publishIn(t, "default", name, "The report of "+name+" is about lamps.", map[string]any{"subjects": []string{person}})
	}
	gone, held, stays := about("gone", "ann"), about("held", "ann"), about("stays", "bob")
	hold, err := s.PlaceHold(t.Context(), client.NewHold{Name: "Smith v. Acme", Reason: "notice", DocumentIDs: []string{held}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.AddConsent(t.Context(), "ann", "training records", "form 7")
	if err != nil {
		t.Fatal(err)
	}
	reader := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})}
	editor := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "editor", "scopes": []string{"write"}})}
	finds := func() (list []string) {
		_, found := s.raw(t, "POST", webhooks+"/retrieve-context", "application/json", []byte(`{"text": "What is the report about?"}`), reader...)
		for name, id := range map[string]string{"gone": gone, "held": held, "stays": stays} {
			res, _ := s.raw(t, "GET", "/workspaces/default/documents/"+id+"/content", "", nil, reader...)
			if isFound := strings.Contains(string(found), "report of "+name); isFound != (res.StatusCode == http.StatusOK) {
				t.Errorf("%s is found: %t, and opened with status %d", name, isFound, res.StatusCode)
			} else if isFound {
				list = append(list, name)
			}
		}
		return list
	}
	if got := finds(); len(got) != 3 {
		t.Fatalf("before the withdrawal %v are found", got)
	}
	if status := s.call(t, "DELETE", "/workspaces/default/consents/"+c.ID, nil, nil, editor...); status != http.StatusForbidden {
		t.Errorf("an editor withdraws a consent: status %d", status)
	}
	w, err := s.WithdrawConsent(t.Context(), c.ID)
	if err != nil || w.Removed != 1 || len(w.KeptByHold) != 1 || w.KeptByHold[0].DocumentID != held || !strings.Contains(w.KeptByHold[0].Holds, hold.ID) {
		t.Fatalf("the withdrawal is %+v, %v", w, err)
	}
	if got := finds(); len(got) != 1 || got[0] != "stays" {
		t.Errorf("right after the withdrawal %v are found", got)
	}
	s.refuses(t, "DELETE", "/workspaces/default/consents/"+c.ID, nil, http.StatusConflict, knowledge.CodeConflict)
	s.awaitGone(t, gone)
	if res, _ := s.raw(t, "GET", "/workspaces/default/documents/"+held+"/content", "", nil, editor...); res.StatusCode != http.StatusOK {
		t.Errorf("an editor opens the document under hold with status %d", res.StatusCode)
	}
	if _, err := s.LiftHold(t.Context(), hold.ID, "settled"); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s.boot() // which sweeps at its start
	s.awaitGone(t, held)
	if s.idOf(t, "stays") == "" {
		t.Error("the document of another person is gone")
	}
}

// TestConsentRequired adds documents about people to a project that requires their consent, by an
// upload and by an archive, before and after it is recorded.
func TestConsentRequired(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"privacy": map[string]any{"consentRequired": true}}, nil); status != http.StatusOK {
		t.Fatalf("project: status %d", status)
	}
	s.publishIn(t, "default", "plain", "This is about nobody.", nil)
	asked := m.Totals().Embeddings.Asked
	upload := func(override bool) client.Document {
		body := map[string]any{"name": "a", "content": map[string]string{"text": "The quillobasalt of ann."}, "subjects": []string{"ann"}}
		if override {
			delete(body, "subjects")
			body["override"] = map[string]any{"subjects": []string{"ann"}}
		}
		var d client.Document
		if status := s.call(t, "POST", webhooks+"/document?projectId=default", body, &d); status != http.StatusAccepted {
			t.Fatalf("upload: status %d", status)
		}
		return s.ended(t, d)
	}
	refused := []client.Document{upload(false), upload(true)}
	imported := s.aboutAnn(t)
	failures := s.failureCodes(t, imported)
	if len(failures) != 1 || failures["ann.txt"] != knowledge.CodeConsentMissing || imported.Published != 1 {
		t.Errorf("the import has the failures %v, and has published %d", failures, imported.Published)
	}
	for _, d := range refused {
		if d.Status != knowledge.StatusError || d.Error == nil || d.Error.Code != knowledge.CodeConsentMissing || len(d.Subjects) != 1 {
			t.Fatalf("%s: %+v", d.Status, d.Error)
		}
	}
	if now := m.Totals().Embeddings.Asked; now > asked+1 { // of the other object of the archive
		t.Errorf("%d requests for embeddings were made without consent", now-asked)
	}
	if _, err := s.AddConsent(t.Context(), "ann", "records", ""); err != nil {
		t.Fatal(err)
	}
	for _, d := range refused {
		run, err := s.RetryDocument(t.Context(), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Wait(t.Context(), run.RunID, nil); err != nil {
			t.Fatal(err)
		}
		if d := s.document(t, d.ID); d.Status != knowledge.StatusPublished {
			t.Errorf("with the consent: %s, %+v", d.Status, d.Error)
		}
	}
	if _, err := s.RetryImport(t.Context(), imported.ID); err != nil {
		t.Fatal(err)
	}
	await(t, time.Minute, "the object is imported", func(context.Context) error {
		if i, err := s.Import(t.Context(), imported.ID); err != nil || i.Failed != 0 || i.Published != 2 {
			return fmt.Errorf("%+v, %w", i, err)
		}
		return nil
	})
}

// aboutAnn imports an archive with a file about ann and another one.
func (s *server) aboutAnn(t *testing.T) client.Import {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"ann.txt": "Ann keeps the lamp.", "ann.txt.meta.json": `{"subjects": ["ann"]}`, "other.txt": "Nobody keeps the foghorn."} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mediaType, body := form(t, nil, file{"people.zip", archive.Bytes()})
	_, answer := s.raw(t, "POST", filesRoute, mediaType, body)
	var taken struct{ Import *client.Import }
	if decode(t, answer, &taken); taken.Import == nil {
		t.Fatalf("archive: %.300s", answer)
	}
	if _, err := s.Wait(t.Context(), taken.Import.RunID, nil); err != nil {
		t.Fatal(err)
	}
	i, err := s.Import(t.Context(), taken.Import.ID)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
