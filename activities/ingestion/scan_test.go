package ingestion_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/clamd"
	"github.com/cairn-rag/cairn/internal/clamd/clamdtest"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// scanFixture has a fixture whose originals are scanned.
func scanFixture(t *testing.T) (*fixture, *clamdtest.Server) {
	t.Helper()
	f, scanner := newFixture(t), clamdtest.New(t, 100_000)
	f.IngestWith(func(d *ingestion.Dependencies) { d.Scanner, d.Audit = clamd.New(scanner.Address()), f.Store })
	return f, scanner
}

// extract prepares and extracts a version.
func (f *fixture) extract(in ingestion.StepInput) error {
	f.Helper()
	prepared, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	f.Must(err)
	if prepared.Chunked {
		f.Fatal("the document was read before it was scanned")
	}
	_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	return err
}

// rejections returns the documents whose rejection is in the audit.
func (f *fixture) rejections() (documents []string) {
	f.Helper()
	_, err := f.Store.ExtendAudit(f.Ctx, audit.Batch{EndBefore: time.Now()})
	f.Must(err)
	entries, err := f.Store.AuditLinks(f.Ctx, "w", 0, 100)
	f.Must(err)
	for _, e := range entries {
		if e.Action == "reject-original" && e.Outcome == "rejected" && e.Actor == "scanner" {
			documents = append(documents, e.Object)
		}
	}
	return documents
}

func TestMalwareIsRejected(t *testing.T) {
	t.Parallel()
	f, scanner := scanFixture(t)
	clean := f.Upload("clean.md", "# Harbour\n\nThe harbour opens at five.")
	f.Publish(clean)
	parsed := f.Parser.Calls
	in := f.Upload("letter.md", "# Letter\n\n"+clamdtest.EICAR())
	err := f.extract(in)
	f.FailedWith(err, knowledge.CodeRejected, false)
	if application, ok := errors.AsType[*temporal.ApplicationError](err); !ok || !strings.Contains(application.Message(), "Eicar-Test-Signature") {
		t.Errorf("the failure does not name what was found: %v", err)
	}
	if now := f.Parser.Calls; now != parsed {
		t.Error("the file was parsed")
	}
	v, err := f.Store.Version(f.Ctx, in.VersionRef)
	f.Must(err)
	if kept, err := f.Blobs.Exists(f.Ctx, v.SourceKey); kept || err != nil {
		t.Errorf("the original is kept: %v", err)
	}
	if got := f.rejections(); len(got) != 1 || got[0] != in.Document {
		t.Errorf("the audit has rejections of %v", got)
	}
	asked := scanner.Scanned()
	_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in}) // repeated after a crash
	f.FailedWith(err, knowledge.CodeRejected, false)
	if scanner.Scanned() != asked {
		t.Error("a repetition asked the scanner for an original that is gone")
	}
}

func TestMalwareInATranscriptIsRejected(t *testing.T) {
	t.Parallel()
	f, _ := scanFixture(t)
	in := f.Upload("talk.md", "A talk.", func(nv *store.NewVersion) {
		_, err := f.Blobs.Put(f.Ctx, blob.BesideUpload(nv.SourceKey, blob.Transcript), []byte("WEBVTT\n\n"+clamdtest.EICAR()))
		f.Must(err)
	})
	f.FailedWith(f.extract(in), knowledge.CodeRejected, false)
	for _, key := range f.Keys(blob.DocumentPrefix("w", "p", in.Document)) {
		if strings.Contains(key, "/upload-") {
			t.Errorf("%s is kept", key)
		}
	}
}

func TestDocumentsWaitForTheScanner(t *testing.T) {
	t.Parallel()
	f, scanner := scanFixture(t)
	scanner.Down()
	in := f.Upload("letter.md", "# Letter\n\nHello.")
	err := f.extract(in)
	f.FailedWith(err, knowledge.CodeUnavailable, true)
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || !step.IsHeld(err) || application.NextRetryDelay() < time.Second || !strings.Contains(application.Message(), "the malware scanner does not answer") {
		t.Errorf("the document does not wait for the scanner: %v", err)
	}
	scanner.Up(t)
	f.Must(f.extract(in))
	if chunks := f.Chunks(in); len(chunks) != 1 {
		t.Errorf("%d chunks", len(chunks))
	}
}

func TestAFileAboveTheScannersLimitFails(t *testing.T) {
	t.Parallel()
	f, _ := scanFixture(t)
	in := f.Upload("long.md", strings.Repeat("long ", 30_000))
	err := f.extract(in)
	f.FailedWith(err, knowledge.CodeTooLarge, false)
	if application, ok := errors.AsType[*temporal.ApplicationError](err); !ok || !strings.Contains(application.Message(), "StreamMaxLength") {
		t.Errorf("the failure does not name the limit: %v", err)
	}
	v, err := f.Store.Version(f.Ctx, in.VersionRef)
	f.Must(err)
	if kept, err := f.Blobs.Exists(f.Ctx, v.SourceKey); !kept || err != nil {
		t.Errorf("the original is gone: %v", err)
	}
}

// scannedImport has an import fixture whose objects are scanned.
func scannedImport(t *testing.T) (*importFixture, *clamdtest.Server) {
	t.Helper()
	f, scanner := newImportFixture(t), clamdtest.New(t, 10<<20)
	f.IngestWith(func(d *ingestion.Dependencies) { d.Scanner, d.Audit = clamd.New(scanner.Address()), f.Store })
	f.importing = f.process(f.writes)
	return f, scanner
}

func TestMalwareInAnImportIsRejected(t *testing.T) {
	t.Parallel()
	f, _ := scannedImport(t)
	f.shelf.put("clean.md", "# Harbour\n\nThe harbour opens at five.")
	f.shelf.put("small.md", "# Letter\n\n"+clamdtest.EICAR())
	f.shelf.put("large.md", clamdtest.EICAR()+strings.Repeat("\n\nlong", 60_000))
	i := f.run()
	failed := f.failures(i)
	if len(failed) != 2 || failed["small.md"] != knowledge.CodeRejected || failed["large.md"] != knowledge.CodeRejected {
		t.Errorf("the failures are %v", failed)
	}
	f.wantOnce("clean.md", 1)
	for _, key := range f.Keys("w/p/") {
		if data, err := f.Blobs.Get(f.Ctx, key); err != nil || strings.Contains(string(data), clamdtest.EICAR()) {
			t.Errorf("%s has the file, %v", key, err)
		}
	}
	if got := f.rejections(); len(got) != 2 {
		t.Errorf("the audit has rejections of %v", got)
	}
	lost, err := f.Store.ImportLost(f.Ctx, i.ImportRef)
	if f.Must(err); !lost {
		t.Error("an archive with malware would be kept")
	}
}

func TestImportsWaitForTheScanner(t *testing.T) {
	t.Parallel()
	f, scanner := scannedImport(t)
	scanner.Down()
	f.shelf.put("clean.md", "# Harbour\n\nThe harbour opens at five.")
	i := f.start()
	f.list(i)
	batch := ingestion.BatchInput{ImportRef: i.ImportRef, Run: i.RunID, Last: 1, StepTurn: ingestion.StepTurn{Waits: true}}
	_, err := do(f.fixture, f.importing.ImportBatch, batch)
	if _, message := f.heldDetails(err); !strings.Contains(message, "the malware scanner does not answer") {
		t.Errorf("the batch says %q", message)
	}
	now, err := f.Store.ImportForSystem(f.Ctx, i.ImportRef)
	f.Must(err)
	if now.Waiting == nil || !strings.Contains(now.Waiting.Message, "the malware scanner does not answer") {
		t.Errorf("the import shows %+v", now.Waiting)
	}
	scanner.Up(t)
	batch.Waited = true
	_, err = do(f.fixture, f.importing.ImportBatch, batch)
	f.Must(err)
	f.end(i)
	f.wantOnce("clean.md", 1)
}
