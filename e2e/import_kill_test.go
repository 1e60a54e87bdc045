package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// killedObjects is how many objects the import has over which the server is killed.
const killedObjects = 3000

// damagedObject is an object that cannot be imported.
type damagedObject struct {
	body  string
	code  knowledge.Code
	stage knowledge.Stage
}

func damagedObjects() map[string]damagedObject {
	return map[string]damagedObject{
		"damaged/cut.docx":    {"PK\x03\x04 and then nothing", knowledge.CodeCorrupt, knowledge.StageExtract},
		"damaged/cut.pdf":     {"%PDF-1.7\nnothing of it is left", knowledge.CodeCorrupt, knowledge.StageExtract},
		"damaged/empty.txt":   {"", knowledge.CodeEmpty, knowledge.StageCheck},
		"damaged/program.txt": {"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00>\x00", knowledge.CodeUnsupportedFormat, knowledge.StageCheck},
	}
}

// TestImportOverKills kills the server five times while it imports. The steps after
// that share the documents.
func TestImportOverKills(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	b.fill("notes/", killedObjects)
	for key, d := range damagedObjects() {
		b.put("notes/"+key, d.body)
	}
	damaged := int64(len(damagedObjects()))
	s := startForImports(t)
	notes := client.NewImport{Source: b.source("notes/")}

	i := s.begin(t, notes)
	for _, published := range []int64{200, 700, 1200, 1700, 2200} {
		s.awaitPublishedObjects(t, i.ID, published)
		s.kill()
		s.restart()
	}
	i = s.awaitImport(t, i.ID)
	wantCounts(t, i, counts{discovered: killedObjects + damaged, published: killedObjects, failed: damaged})
	t.Logf("%d objects over five kills in %v; %d were read twice", killedObjects, i.EndedAt.Sub(i.CreatedAt).Round(time.Second), b.readAgain())
	b.takeReads()

	t.Run("every object is one document that is found once", func(t *testing.T) {
		documents := s.imported(t)
		if want := killedObjects + len(damagedObjects()); len(documents) != want { // a damaged object is a document with an error
			t.Errorf("%d objects became %d documents", want, len(documents))
		}
		for n := range killedObjects {
			d := s.wantObject(t, documents, b.externalID(b.key("notes/", n)), password(n)+".", 1)
			if n%100 == 17 {
				s.wantFound(t, d, n)
			}
			if t.Failed() {
				return
			}
		}
	})
	t.Run("damaged objects are listed with code, stage and message", func(t *testing.T) {
		s.wantFailures(t, i)
	})
	t.Run("an import again reads nothing", func(t *testing.T) {
		again := s.runImport(t, notes)
		wantCounts(t, again, counts{discovered: killedObjects + damaged, skipped: killedObjects, failed: damaged})
		if read := b.takeReads(); len(read) > 0 {
			t.Errorf("it read %d objects, first %s", len(read), read[0])
		}
		i = again
	})
	t.Run("a retry publishes the objects that were repaired", func(t *testing.T) { wantRepairedObjects(t, b, s, i, damaged) })
	t.Run("a dry run changes nothing", func(t *testing.T) {
		b.put(b.key("notes/", 5), objectText("notes/", 5, "second"))
		dry := notes
		dry.DryRun = true
		i := s.runImport(t, dry)
		if i.Status != "completed" || i.Remaining != 1 || i.Published != 0 || i.Skipped != killedObjects+damaged-1 {
			t.Errorf("the dry run is %s with %+v, %d remaining; want one object to import", i.Status, countsOf(i), i.Remaining)
		}
		if read := b.takeReads(); len(read) > 0 {
			t.Errorf("it read %v", read)
		}
		s.wantObject(t, s.imported(t), b.externalID(b.key("notes/", 5)), "first", 1)
	})
	t.Run("only a changed object is read, and becomes a new version", func(t *testing.T) {
		i := s.runImport(t, notes)
		wantCounts(t, i, counts{discovered: killedObjects + damaged, published: 1, skipped: killedObjects + damaged - 1})
		if read := b.takeReads(); !slices.Equal(read, []string{b.key("notes/", 5)}) {
			t.Errorf("it read %v", read)
		}
		d := s.wantObject(t, s.imported(t), b.externalID(b.key("notes/", 5)), "second", 2)
		s.wantFound(t, d, 5)
	})
	t.Run("a vanished object is reported, and its document removed on request", func(t *testing.T) { wantVanishedObject(t, b, damaged, s, notes) })
}

func wantRepairedObjects(t *testing.T, b *bucket, s *server, i client.Import, damaged int64) {
	for key := range damagedObjects() {
		b.put("notes/"+key, "A repaired object. "+key)
	}
	i, err := s.RetryImport(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	i = s.awaitImport(t, i.ID)
	wantCounts(t, i, counts{discovered: killedObjects + damaged, published: damaged, skipped: killedObjects})
	documents := s.imported(t)
	for key := range damagedObjects() {
		if d := documents[b.externalID("notes/"+key)]; d.Status != knowledge.StatusPublished || d.PublishedVersion == 0 {
			t.Errorf("object %s is %s after its repair: %+v", key, d.Status, d.Error)
		}
	}
	b.takeReads()
}

func wantVanishedObject(t *testing.T, b *bucket, damaged int64, s *server, notes client.NewImport) {
	b.remove(b.key("notes/", 7))
	rest := killedObjects + damaged - 1
	wantCounts(t, s.runImport(t, notes), counts{discovered: rest, skipped: rest, vanished: 1})
	d := s.wantObject(t, s.imported(t), b.externalID(b.key("notes/", 7)), password(7), 1)
	removing := notes
	removing.RemoveVanished = true
	wantCounts(t, s.runImport(t, removing), counts{discovered: rest, skipped: rest, vanished: 1, deleted: 1})
	s.awaitGone(t, d.ID)
	if read := b.takeReads(); len(read) > 0 {
		t.Errorf("they read %v", read)
	}
}

// externalID returns the external id of the document of an object.
func (b *bucket) externalID(key string) string { return b.url + "/s3:shelf/" + key }

// wantFailures checks that an import names exactly the damaged objects, each with its
// reason.
func (s *server) wantFailures(t *testing.T, i client.Import) {
	t.Helper()
	list, err := s.ImportFailures(t.Context(), i.ID, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != len(damagedObjects()) || len(i.Failures) != len(list.Data) {
		t.Errorf("%d failures are listed, %d with the import; want %d", len(list.Data), len(i.Failures), len(damagedObjects()))
	}
	for _, f := range list.Data {
		want, known := damagedObjects()[f.Key]
		if !known || f.Error.Code != want.code || f.Error.Stage != want.stage || strings.TrimSpace(f.Error.Message) == "" {
			t.Errorf("failure %+v, want %s at %s with a message", f, want.code, want.stage)
		}
	}
}

// awaitGone waits until a document is removed.
func (s *server) awaitGone(t *testing.T, document string) {
	t.Helper()
	await(t, time.Minute, "the document is gone", func(context.Context) error {
		if status := s.call(t, "GET", "/workspaces/default/documents/"+document, nil, nil); status != http.StatusNotFound {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
}
