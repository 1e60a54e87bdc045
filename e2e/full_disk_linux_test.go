package e2e_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// smallDisk mounts a file system of so many bytes until the test ends.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		what := "this test mounts a small tmpfs; run it as root: " + err.Error()
		if os.Getenv("CI") != "" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fill uses all free space of a file system. Removing the file that it returns
// frees the space again.
func fill(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, block := range [][]byte{make([]byte, 1<<20), make([]byte, 4096)} {
		for err = nil; err == nil; {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return path
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "96M")
	m := standIn(t, modeltest.Options{})
	s := startIn(t, filepath.Join(disk, "data"), at(m.URL())...)
	d := s.publish(t, "lighthouse", "The lamp of the lighthouse is cleaned every Tuesday.")
	before := s.witness(t, d.ID)
	m.ScriptEmbeddings(modeltest.Reply{Delay: time.Second})
	asked := m.Totals().Embeddings.Asked
	under := s.upload(t, "under way", "This document is being embedded when the room ends.")
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked > asked }); err != nil {
		t.Fatal(err)
	}
	filler := fill(t, disk)

	t.Run("refuses what it cannot keep", func(t *testing.T) {
		content := bytes.Repeat([]byte("A text that finds no room. "), 100_000)
		s.refusesFile(t, file{"large.txt", content}, http.StatusServiceUnavailable, knowledge.CodeUnavailable)
		body := map[string]any{"name": "large", "content": map[string]string{"text": string(content)}}
		s.refuses(t, "POST", webhooks+"/document?projectId=default", body, http.StatusServiceUnavailable, knowledge.CodeUnavailable)
		s.refuses(t, "POST", webhooks+"/query", map[string]any{"text": witnessQuestion}, http.StatusServiceUnavailable, knowledge.CodeUnavailable)
	})
	t.Run("says so while it stays ready", func(t *testing.T) {
		state, err := s.Details(t.Context())
		if err != nil || state.Status != "ready" {
			t.Fatalf("%+v, %v", state, err)
		}
		p := state.DiskProblem
		if p == nil || p.Code != "full" || p.FreeBytes >= p.NeededBytes || !p.RefusesQuestions || !strings.Contains(p.Message, "free at least") || !strings.Contains(p.Message, "questions are refused with 503 until then") || strings.Contains(p.Message, disk) {
			t.Errorf("the problem of the disk is %+v", p)
		}
		if _, out, _ := command(t, []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key, "CAIRN_DATA=" + s.folder}, "doctor"); !strings.Contains(out, "so uploads and questions are refused") {
			t.Errorf("doctor says %s", out)
		}
		if out := cairn(t, []string{"CAIRN_URL=" + s.ends.API}, "health"); !strings.Contains(out, "questions are refused with 503") {
			t.Errorf("health says %s", out)
		}
	})
	t.Run("still finds what is there", func(t *testing.T) {
		if after := s.witness(t, d.ID); !cmp.Equal(before.document, after.document) || !cmp.Equal(before.passages, after.passages) {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
	t.Run("goes on as before once there is room", func(t *testing.T) {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if state, err := s.Readiness(t.Context()); err != nil || state.DiskProblem != nil {
			t.Errorf("of a disk with room it says %+v, %v", state.DiskProblem, err)
		}
		s.publish(t, "afterwards", "A new document is taken in again.")
		if end := s.ended(t, client.Document{ID: under.ID, RunID: under.RunID}); end.Status != knowledge.StatusPublished {
			t.Errorf("the document under way is %s, %+v", end.Status, end.Error)
		}
		if end := read(t, s.follow(t, s.query(t, witnessQuestion).run, 0)); end.last.Name != client.EventCompleted || end.text == "" {
			t.Errorf("a question ends with %s after %q", end.last.Name, end.text)
		}
		list, err := s.Documents(t.Context(), client.DocumentQuery{Project: "default", Limit: 10})
		if err != nil || list.Total != 3 {
			t.Errorf("%d documents, %v; want the three that were taken in", list.Total, err)
		}
		if after := s.witness(t, d.ID); !cmp.Equal(before.document, after.document) || !cmp.Equal(before.passages, after.passages) {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
}
