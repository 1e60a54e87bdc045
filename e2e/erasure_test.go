package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/stream"
)

// files returns what stands in the files of a server and in its log, in lower case, as the index
// has words.
func (s *server) files(t *testing.T) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	add := func(path string) error {
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // it was removed meanwhile
		}
		texts[path] = bytes.ToLower(data)
		return err
	}
	err := filepath.WalkDir(s.folder, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		return add(path)
	})
	if err == nil {
		err = add(s.log)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// allFiles is files for a server that has stopped, with the logs of runs in its blobs as they are
// before their compression.
func (s *server) allFiles(t *testing.T) map[string][]byte {
	t.Helper()
	texts := s.files(t)
	store, err := blob.Open(t.Context(), (&url.URL{Scheme: "file", Path: filepath.Join(s.folder, "blobs")}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // it was read only
	logs := 0
	for object, err := range store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		var log stream.StoredLog
		if !strings.HasSuffix(object.Key, ".json") || store.GetJSON(t.Context(), object.Key, &log) != nil || len(log.Items) == 0 {
			continue
		}
		logs++
		var all bytes.Buffer
		for _, item := range log.Items {
			event, err := stream.DecodeEvent(item.Data)
			if err != nil {
				t.Fatalf("%s: %v", object.Key, err)
			}
			encoded, err := json.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(encoded)
		}
		texts["log "+object.Key] = bytes.ToLower(all.Bytes())
	}
	if logs == 0 {
		t.Fatal("no log of a run was decompressed, so the scan proves nothing")
	}
	return texts
}

// erasure is the result of an erasure.
type erasure struct {
	Removed    map[string]int
	KeptByHold []client.HeldDocument `json:"kept_by_hold"`
	Reason     string
}

// awaitErasure waits until a run has ended, and returns its result.
func (s *server) awaitErasure(t *testing.T, id string) (e erasure) {
	t.Helper()
	await(t, 2*time.Minute, "the person is erased", func(context.Context) error {
		var run struct {
			Status string
			Result json.RawMessage
		}
		if status := s.call(t, "GET", "/runs/"+id, nil, &run); status != http.StatusOK || run.Status != "completed" {
			return fmt.Errorf("status %d, the run is %s", status, run.Status)
		}
		return json.Unmarshal(run.Result, &e)
	})
	return e
}

// TestErasure erases a person who left more than 200 unique words in everything that takes words,
// and kills the server in the middle of it. Afterwards none of them stands in any file, but those
// of a document under hold. Those of another person are where they were.
func TestErasure(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tools: researchTools(t, 1, 1)})
	hook := receive(t)
	s := start(t, at(m.URL(), "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET", "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	s.subscribe(t, hook)
	ann, bob := s.join(t, m, "ann"), s.join(t, m, "bob")
	s.tellsOfPeople(t, ann, bob)
	ann.leave()
	bob.leave()
	hold := ann.hold()
	quoted := s.quotes(t, ann, bob)
	madeOfFeedback(t, s)
	if len(ann.words) < 200 {
		t.Fatalf("%s left %d words only", ann.name, len(ann.words))
	}
	s.exported(t, ann, bob)
	s.stop()
	before := s.allFiles(t)
	for _, p := range []*somebody{ann, bob} {
		wantEveryWord(t, p, before)
	}
	s.boot()

	run, err := s.EraseSubject(t.Context(), "ann", false, "asked on 3 May")
	if err != nil {
		t.Fatal(err)
	}
	await(t, time.Minute, "the erasure is under way", func(context.Context) error {
		var list struct{ Data []client.Document }
		if s.call(t, "GET", "/workspaces/default/documents?limit=200", nil, &list); slices.ContainsFunc(list.Data, func(d client.Document) bool { return d.ID == ann.documents[0] && d.Status != "deleting" }) {
			return fmt.Errorf("the first document is there")
		}
		return nil
	})
	s.kill()
	s.restart()
	got := s.awaitErasure(t, run)
	t.Logf("removed %v", got.Removed)
	if len(got.KeptByHold) != 1 || got.KeptByHold[0].DocumentID != ann.held || !strings.Contains(got.KeptByHold[0].Holds, hold.ID) || got.Reason != "asked on 3 May" {
		t.Errorf("the result is %+v", got)
	}
	for kind, least := range map[string]int{"documents": 36, "conversations": 1, "runs": 12, "quotations": 1, "preferences": 1, "feedback": 6, "test_sets": 1, "test_items": 5, "consents": 1, "grants": 1, "memberships": 1} {
		if got.Removed[kind] < least {
			t.Errorf("removed are %d %s, want %d at least", got.Removed[kind], kind, least)
		}
	}
	if err := bob.findsOwn(); err != nil {
		t.Error(err)
	}
	if status := s.call(t, "GET", "/preferences", nil, nil, ann.header...); status != http.StatusForbidden {
		t.Errorf("the person is let in with status %d", status)
	}
	if shown := s.bodyOf(t, "/runs/"+quoted); strings.Contains(shown, "zqann") || !strings.Contains(shown, "[…]") {
		t.Errorf("the answer to another person: %.500s", shown)
	}
	s.wantErased(t, ann, bob)
}

// wantErased scans the files of the running server, and again when it has stopped.
func (s *server) wantErased(t *testing.T, ann, bob *somebody) {
	t.Helper()
	running := s.files(t)
	s.stop()
	after := s.allFiles(t)
	for when, texts := range map[string]map[string][]byte{"while the server runs": running, "when it has stopped": after} {
		for _, found := range ann.left(texts) {
			if !strings.Contains(found, "(held)") {
				t.Error(when, "there is", found)
			}
		}
	}
	for _, word := range ann.heldWords {
		if !slices.ContainsFunc(ann.left(after), func(found string) bool { return strings.HasPrefix(found, word) }) {
			t.Errorf("%s of the document under hold is gone", word)
		}
	}
	wantEveryWord(t, bob, after)
}

// wantEveryWord checks that the scan finds all words of a person.
func wantEveryWord(t *testing.T, p *somebody, texts map[string][]byte) {
	t.Helper()
	left := strings.Join(p.left(texts), "\n")
	for word, place := range p.words {
		if place != "idempotency key" && !strings.Contains(left, word) {
			t.Errorf("%s (%s) of %s stands nowhere", word, place, p.name)
		}
	}
}

// quotes has bob ask for a document of ann. It returns the run, whose answer quotes it.
func (s *server) quotes(t *testing.T, ann, bob *somebody) string {
	t.Helper()
	var text string
	for word, place := range ann.words {
		if place == "text of a document" {
			text = word
		}
	}
	found, err := s.retrieve(t.Context(), "What is about "+text+"?", text)
	if err != nil || len(found) == 0 {
		t.Fatalf("found %v, %v", found, err)
	}
	a := bob.ask("What does the sheet say?", found[0].Content+" <source_1>")
	bob.ask("Say it again.", "As I said: "+found[0].Content)
	return a.RunID
}

// madeOfFeedback makes a test set of what both said of answers.
func madeOfFeedback(t *testing.T, s *server) {
	t.Helper()
	if status := s.call(t, "POST", "/workspaces/default/test_sets/from_feedback", map[string]any{}, nil); status != http.StatusCreated {
		t.Fatalf("test set: status %d", status)
	}
}

// exported exports what a person left, and checks that it has no word of another one.
func (s *server) exported(t *testing.T, p, other *somebody) {
	t.Helper()
	run, err := s.ExportSubject(t.Context(), p.name, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), run, nil); err != nil {
		t.Fatal(err)
	}
	var ended struct {
		Result struct{ File *struct{ URL string } }
	}
	if s.call(t, "GET", "/runs/"+run, nil, &ended); ended.Result.File == nil {
		t.Fatal("the export has no file")
	}
	address := ended.Result.File.URL
	if strings.HasPrefix(address, "/") {
		address = s.ends.API + address
	}
	res, err := http.Get(address) //nolint:noctx // a link for a browser
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	archive, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the link: status %d, %v", res.StatusCode, err)
	}
	texts := unzipped(t, archive)
	wantExported(t, p, texts)
	for _, found := range other.left(texts) {
		t.Error("the export of", p.name, "has", found)
	}
}
