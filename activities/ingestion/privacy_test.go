package ingestion_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// importPrivately imports two notes with a privacy, one of which has an account number.
func importPrivately(f *importFixture, p knowledge.VersionPrivacy) store.Import {
	f.shelf.put("notes/account.md", "# Rent\n\nPay the rent to IBAN DE89 3704 0044 0532 0130 00 please.")
	f.shelf.put("notes/plain.md", "# Rent\n\nThe rent is paid in cash.")
	return f.run(func(r *store.ImportRequest) { r.Enrichment.Privacy = p; r.Tags = []string{"of ann@example.org"} })
}

// published returns the text of the passages of an imported object, and its version.
func (f *importFixture) published(key string) (text string, v store.Version) {
	f.Helper()
	d := f.documentOf(key)
	chunks, _, err := f.Store.DocumentChunks(f.Ctx, activitytest.Manager(), d.ID, store.Page{Limit: 500})
	f.Must(err)
	for _, c := range chunks {
		text += c.Text
	}
	v, err = f.Store.VersionFor(f.Ctx, activitytest.Manager(), d.ID, d.PublishedVersion)
	f.Must(err)
	return text, v
}

func TestImportThatDetectsPersonalData(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	i := importPrivately(f, knowledge.VersionPrivacy{Mode: knowledge.PrivacyDetect})
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: f.bytes()})
	text, v := f.published("notes/account.md")
	if !strings.Contains(text, "DE89 3704") {
		t.Errorf("the passage is %q", text)
	}
	var report privacy.Report
	f.Must(f.Blobs.GetJSON(f.Ctx, parsed.PrivacyKey(v.VersionRef), &report))
	if len(report.Findings) != 1 || report.Findings[0].Entity != knowledge.PIIIBAN {
		t.Errorf("report %+v", report)
	}
	_, plain := f.published("notes/plain.md")
	f.Must(f.Blobs.GetJSON(f.Ctx, parsed.PrivacyKey(plain.VersionRef), &report))
}

func TestImportThatRedactsPersonalData(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	importPrivately(f, knowledge.VersionPrivacy{Mode: knowledge.PrivacyRedact, DropOriginal: true})
	text, v := f.published("notes/account.md")
	if !strings.Contains(text, "<IBAN_CODE_1> please") || strings.Contains(text, "3704") || v.Tags[0] != "of <EMAIL_ADDRESS_1>" {
		t.Errorf("passage %q, tags %q", text, v.Tags)
	}
	if _, err := f.Blobs.Get(f.Ctx, v.SourceKey); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the original is there: %v", err)
	}
	layout, err := parsed.Stored(f.Ctx, f.Blobs, v.VersionRef, true)
	f.Must(err)
	if shown := parsed.Markdown(layout); !strings.Contains(shown, "<IBAN_CODE_1>") {
		t.Errorf("parsed: %s", shown)
	}
	if found := f.Finds("rent"); len(found) == 0 || strings.Contains(strings.Join(found, ""), "3704") {
		t.Errorf("found %q", found)
	}
}

// TestImportThatRedactsAndKeepsOriginals keeps an original under a key of its own, and removes its
// document.
func TestImportThatRedactsAndKeepsOriginals(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	importPrivately(f, knowledge.VersionPrivacy{Mode: knowledge.PrivacyRedact})
	_, v := f.published("notes/account.md")
	stored, err := f.Blobs.Store.Get(f.Ctx, v.SourceKey)
	f.Must(err)
	if bytes.Contains(stored, []byte("3704")) {
		t.Errorf("the original is stored as %q", stored)
	}
	original, err := f.Blobs.Get(f.Ctx, v.SourceKey)
	f.Must(err)
	if !bytes.Contains(original, []byte("DE89 3704 0044 0532 0130 00")) {
		t.Errorf("the original is %q", original)
	}
	f.Remove(v.Document)
	if sealed, err := f.Store.OriginalKey(f.Ctx, v.SourceKey); sealed != "" || err != nil {
		t.Errorf("the key of a removed original is there, %v", err)
	}
}

func TestImportThatRefusesPersonalData(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	i := importPrivately(f, knowledge.VersionPrivacy{Mode: knowledge.PrivacyReject})
	if got := f.failures(i); len(got) != 1 || got["notes/account.md"] != knowledge.CodePIIFound {
		t.Errorf("failures %v", got)
	}
	if text, _ := f.published("notes/plain.md"); !strings.Contains(text, "in cash") {
		t.Errorf("the other note is %q", text)
	}
}
