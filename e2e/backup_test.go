package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestABackupBesideTheServerIsRestoredElsewhere copies a server in the middle of its
// ingests, and starts the copy in another folder.
func TestABackupBesideTheServerIsRestoredElsewhere(t *testing.T) {
	t.Parallel()
	const documents = 12
	m := standIn(t, modeltest.Options{EmbeddingDelay: time.Second})
	s := start(t, at(m.URL())...)
	var uploads sync.WaitGroup
	list := make([]accepted, documents)
	for i := range list {
		uploads.Go(func() { list[i] = s.uploadThrough(t, i) })
	}
	uploads.Wait()
	if t.Failed() {
		return
	}
	backup, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data folder")
	if code, _, stderr := command(t, nil, "backup", backup, "--data", s.folder); code != 0 {
		t.Fatalf("backup: code %d: %s", code, stderr)
	}
	s.awaitPublished(t, documents) // the server works on
	s.stop()

	if code, _, stderr := command(t, nil, "restore", backup, "--data", s.folder); code == 0 || !strings.Contains(stderr, "not empty") {
		t.Errorf("a restore over the instance: code %d: %s", code, stderr)
	}
	if code, _, stderr := command(t, nil, "restore", backup, "--data", data); code != 0 {
		t.Fatalf("restore: code %d: %s", code, stderr)
	}
	texts := m.Totals().Texts
	key := s.key
	s.folder = data
	s.child = childserver.New(childserver.Config{Program: binary, Data: data, Log: s.log, Env: at(m.URL())})
	s.boot()
	if s.key != key {
		t.Error("the restored server has another admin key")
	}
	s.awaitPublished(t, documents)
	if m.Totals().Texts == texts {
		t.Error("nothing was unfinished when the backup was made, so it proves little")
	}
	for i, a := range list {
		s.wantOnce(t, a, i)
	}
	if answer := read(t, s.follow(t, s.query(t, "What is the watchword of station 1?").run, 0)); answer.last.Name != client.EventCompleted || answer.text == "" {
		t.Errorf("the answer is %+v", answer)
	}
}

func TestARestoreThatWasKilledIsNoInstance(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "unfinished"), []byte("restore"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, nil, "up", "--data", data, "--listen", "127.0.0.1:0"); code == 0 || !strings.Contains(stderr, "run cairn restore again") {
		t.Errorf("up: code %d: %s", code, stderr)
	}
}
