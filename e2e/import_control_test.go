package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// actsWithin is how soon an import obeys.
const actsWithin = 5 * time.Second

func TestImportControls(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 1200
	b.fill("notes/", objects)
	b.slow(150 * time.Millisecond)
	s := startForImports(t)
	notes := client.NewImport{Source: b.source("notes/")}
	i := s.begin(t, notes)

	s.awaitPublishedObjects(t, i.ID, 100)
	s.obeys(t, i.ID, "pause", "paused", s.PauseImport)
	b.takeReads()
	paused, err := s.Import(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.obeys(t, i.ID, "resume", "running", s.ResumeImport)
	s.awaitPublishedObjects(t, i.ID, paused.Published+100)
	s.obeys(t, i.ID, "cancel", "canceled", s.CancelImport)
	read := len(b.takeReads())
	canceled, err := s.Import(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	if documents := s.imported(t); int64(len(documents)) != canceled.Published || read == 0 {
		t.Errorf("the canceled import has published %d objects, and there are %d documents", canceled.Published, len(documents))
	}
	if _, err := s.PauseImport(t.Context(), i.ID); err == nil {
		t.Error("an import that has ended was paused")
	}
	last, err := s.Wait(t.Context(), i.RunID, nil)
	if err != nil || last.Name != client.EventError || !strings.Contains(string(last.Data), `"canceled"`) {
		t.Errorf("the events of the canceled import end with %s %s, %v", last.Name, last.Data, err)
	}

	b.slow(0)
	rest := s.runImport(t, notes)
	wantCounts(t, rest, counts{discovered: objects, published: objects - canceled.Published, skipped: canceled.Published})
	documents := s.imported(t)
	for n := 0; n < objects; n += 40 {
		s.wantObject(t, documents, b.externalID(b.key("notes/", n)), password(n)+".", 1)
	}
}

// obeys asks an import for something, and checks that it does it in time and publishes
// nothing more, unless it runs.
func (s *server) obeys(t *testing.T, id, what, status string, ask func(context.Context, string) (client.Import, error)) {
	t.Helper()
	began := time.Now()
	if _, err := ask(t.Context(), id); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var i client.Import
	await(t, time.Minute, "the import is "+status, func(ctx context.Context) (err error) {
		if i, err = s.Import(ctx, id); err == nil && i.Status != status {
			err = fmt.Errorf("it is %s", i.Status)
		}
		return err
	})
	took := time.Since(began)
	t.Logf("%s took %v", what, took.Round(time.Millisecond))
	if took > actsWithin {
		t.Errorf("%s took %v, want %v", what, took, actsWithin)
	}
	if status == "running" {
		return
	}
	for range 20 { // as long as a batch takes
		now, err := s.Import(t.Context(), id)
		if err != nil || now.Published != i.Published {
			t.Fatalf("the %s import went from %d to %d published objects, %v", status, i.Published, now.Published, err)
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// TestImportEvents follows an import: its updates count up to its end, over a kill.
func TestImportEvents(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 600
	b.fill("notes/", objects)
	b.put("notes/empty.txt", "")
	b.slow(80 * time.Millisecond)
	s := startForImports(t)
	i := s.begin(t, client.NewImport{Source: b.source("notes/")})
	s.awaitPublishedObjects(t, i.ID, 100)
	s.kill()
	s.restart()

	list := s.follow(t, i.RunID, 0)
	var before, last client.Import
	for _, e := range list[:len(list)-1] {
		if e.Name != client.EventImport {
			t.Fatalf("event %d is %s", e.ID, e.Name)
		}
		before, last = last, client.Import{}
		e.decode(t, &last)
		if last.ID != i.ID || last.Published < before.Published || last.Discovered < before.Discovered {
			t.Errorf("event %d has %+v after %+v", e.ID, countsOf(last), countsOf(before))
		}
	}
	want := counts{discovered: objects + 1, published: objects, failed: 1}
	if got := countsOf(last); got != want || len(list) < 4 {
		t.Errorf("after %d events the counters are %+v, want %+v", len(list), got, want)
	}
	var end client.Ended
	var result client.Import
	if e := list[len(list)-1]; e.Name != client.EventEnded {
		t.Fatalf("the last event is %s", e.Name)
	}
	list[len(list)-1].decode(t, &end)
	if err := json.Unmarshal(end.Result, &result); err != nil || end.Status != "completed" || countsOf(result) != want {
		t.Errorf("the import ended as %s with %+v, %v", end.Status, countsOf(result), err)
	}
	if rest := s.follow(t, i.RunID, 2); len(rest) != len(list)-2 {
		t.Errorf("after event 2 there are %d events, want %d", len(rest), len(list)-2)
	}
}

func TestImportCommand(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	b.fill("notes/", 60)
	b.fill("broken/", 3)
	b.put("broken/empty.txt", "")
	s := startForImports(t)
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}
	flags := []string{"--endpoint", b.url, "--path-style", "--anonymous", "--wait"}
	run := func(args ...string) (int, string, string) { return command(t, env, append(args, flags...)...) }

	t.Run("shows its progress and its numbers", func(t *testing.T) {
		code, out, progress := run("import", "s3://shelf/notes/")
		if code != 0 || out != "" || !strings.Contains(progress, "60 published, 0 skipped, 0 failed") || !strings.Contains(progress, "60 of 60") && !strings.Contains(progress, "60/60") {
			t.Errorf("exit code %d, printed %q and %q", code, out, progress)
		}
	})
	t.Run("prints the import as JSON", func(t *testing.T) {
		code, out, progress := run("import", "s3://shelf/notes/", "--json")
		var i client.Import
		err := json.Unmarshal([]byte(out), &i)
		if code != 0 || err != nil || progress != "" || i.Status != "completed" || i.Skipped != 60 {
			t.Errorf("exit code %d, %v, printed %q and %q", code, err, out, progress)
		}
	})
	t.Run("has exit code 1 for an object that failed, and names it", func(t *testing.T) {
		code, out, progress := run("import", "s3://shelf/broken/")
		if code != 1 || !strings.Contains(out, "empty.txt") || !strings.Contains(out, "empty at check") || !strings.Contains(progress, "cairn imports retry") {
			t.Errorf("exit code %d, printed %q and %q", code, out, progress)
		}
	})
	t.Run("has exit code 1 for a source that cannot be listed", func(t *testing.T) {
		code, out, progress := run("import", "s3://nowhere/")
		if code != 1 || !strings.Contains(progress, "nowhere") {
			t.Errorf("exit code %d, printed %q and %q", code, out, progress)
		}
	})
	t.Run("has exit code 2 for wrong use", func(t *testing.T) {
		for _, args := range [][]string{{"import"}, {"import", "ftp://a"}, {"import", "https://a.example/x"}} {
			if code, _, _ := command(t, env, args...); code != 2 {
				t.Errorf("%v: exit code %d", args, code)
			}
		}
	})
	t.Run("has exit code 3 without a server", func(t *testing.T) {
		code, _, said := command(t, nil, "import", "s3://shelf/notes/", "--url", "http://127.0.0.1:1", "--key", "k")
		if code != 3 {
			t.Errorf("exit code %d, %q", code, said)
		}
	})
	t.Run("uploads an archive of this machine", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "notes.zip")
		if err := os.WriteFile(path, pack(t, member{"a.txt", "One."}, member{"b.txt", "Two."}), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, said := command(t, env, "import", path, "--tag", "packed", "--wait"); code != 0 || !strings.Contains(said, "2 published, 0 skipped, 0 failed") {
			t.Errorf("exit code %d, %q", code, said)
		}
		list, err := s.Documents(t.Context(), client.DocumentQuery{Project: "default", Tags: []string{"packed"}})
		if err != nil || list.Total != 2 {
			t.Errorf("%d documents have the tag, %v", list.Total, err)
		}
	})
	t.Run("lists, shows and retries", func(t *testing.T) {
		code, out, _ := command(t, env, "imports", "list", "--json")
		var list client.List[client.Import]
		if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || len(list.Data) != 5 {
			t.Fatalf("exit code %d, %v, %q", code, err, out)
		}
		broken := list.Data[2].ID
		if code, out, _ := command(t, env, "imports", "failures", broken); code != 0 || !strings.Contains(out, "empty.txt") {
			t.Errorf("failures: exit code %d, %q", code, out)
		}
		b.put("broken/empty.txt", "No longer empty.")
		if code, _, said := command(t, env, "imports", "retry", broken, "--wait"); code != 0 || !strings.Contains(said, "4 published, 0 skipped, 0 failed") {
			t.Errorf("retry: exit code %d, %q", code, said)
		}
		if code, out, _ := command(t, env, "imports", "show", broken); code != 0 || !strings.Contains(out, "completed") {
			t.Errorf("show: exit code %d, %q", code, out)
		}
	})
}

// TestImportWebhooks: the receivers of a project are told of imported documents too.
func TestImportWebhooks(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 40
	b.fill("notes/", objects)
	b.put("notes/empty.txt", "")
	s := startForHooks(t)
	r := receive(t)
	s.subscribe(t, r)
	notes := client.NewImport{Source: b.source("notes/")}
	notes.RemoveVanished = true
	s.runImport(t, notes)
	documents := s.imported(t)
	id := func(n int) string { return documents[b.externalID(b.key("notes/", n))].ID }
	for n := range objects {
		r.await(id(n), "documents_created")
	}
	b.put(b.key("notes/", 3), objectText("notes/", 3, "second"))
	b.remove(b.key("notes/", 4))
	s.runImport(t, notes)
	r.await(id(3), "documents_created", "documents_updated")
	r.await(id(4), "documents_created", "documents_deleted")
	if got := r.of(id(5)); len(got) != 1 {
		t.Errorf("of an unchanged object the receiver was told %v", got)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken) != objects+2 {
		t.Errorf("the receiver has %d events, want %d", len(r.taken), objects+2)
	}
}
