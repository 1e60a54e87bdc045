package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// workerProcess is cairn worker as a child process.
type workerProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	log  string
}

// startWorker starts a worker on the folder of a server, and returns when it is ready.
func (s *server) startWorker(t *testing.T, env ...string) *workerProcess {
	t.Helper()
	w := &workerProcess{t: t, done: make(chan struct{}), log: filepath.Join(t.TempDir(), "worker.log")}
	log, err := os.Create(w.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w.cmd = exec.Command(binary, "worker", "--data", s.folder)
	w.cmd.Env = append(childserver.Environment(os.Environ()), env...)
	w.cmd.Stdout, w.cmd.Stderr = log, log
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.done)
		_ = w.cmd.Wait() // ProcessState says how it ended
	}()
	t.Cleanup(func() {
		w.kill()
		if t.Failed() {
			t.Logf("the worker said:\n%s", w.said())
		}
	})
	w.awaitReady(1)
	return w
}

func (w *workerProcess) said() string {
	data, err := os.ReadFile(w.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// awaitReady waits until the worker was ready n times.
func (w *workerProcess) awaitReady(n int) {
	w.t.Helper()
	await(w.t, time.Minute, fmt.Sprintf("the worker was ready %d times", n), func(context.Context) error {
		select {
		case <-w.done:
			w.t.Fatalf("the worker has ended:\n%s", w.said())
		default:
		}
		if got := strings.Count(w.said(), "is ready."); got < n {
			return fmt.Errorf("it was %d times", got)
		}
		return nil
	})
}

func (w *workerProcess) kill() {
	if err := w.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.t.Error(err)
	}
	<-w.done
}

// stop ends the worker with SIGTERM and checks how it ends.
func (w *workerProcess) stop() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	select {
	case <-w.done:
	case <-time.After(15 * time.Second):
		w.t.Fatal("the worker did not end within 15 s of SIGTERM")
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Errorf("the worker ended with code %d after SIGTERM", code)
	}
}

// share is the work on the pages of an import that the processes of one kind have done.
type share struct {
	pages   int // in which it ran batches
	batches int
}

// shares reads from the histories of an import's pages what the server and what the
// workers beside it have done.
func (s *server) shares(t *testing.T, imported string, pages int) (up, beside share) {
	t.Helper()
	for page := range pages {
		own, others := 0, 0
		for _, e := range s.history(t, fmt.Sprintf("import/default/%s/page-%06d", imported, page)).Events {
			if e.EventType != enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED {
				continue
			}
			if strings.HasPrefix(e.GetActivityTaskStartedEventAttributes().GetIdentity(), "cairn-worker/") {
				others++
			} else {
				own++
			}
		}
		up.add(own)
		beside.add(others)
	}
	return up, beside
}

func (s *share) add(batches int) {
	s.batches += batches
	if batches > 0 {
		s.pages++
	}
}

func startForWorkers(t *testing.T) (*server, []string) {
	t.Helper()
	m := standIn(t, modeltest.Options{EmbeddingDelay: 20 * time.Millisecond})
	env := at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")
	return start(t, env...), env
}

// TestTwoWorkers imports five pages with two processes: both take pages, and all of it
// is complete. The second worker is killed in the middle of its work, and the first
// does the rest.
func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 4100
	b.fill("notes/", objects)
	s, env := startForWorkers(t)
	w := s.startWorker(t, env...)
	if _, err := s.retrieve(t.Context(), "Which note has the password "+password(3)+"?", password(3)); err != nil { // the index is empty and has no table of vectors
		t.Fatal(err)
	}

	i := s.begin(t, client.NewImport{Source: b.source("notes/")})
	s.awaitPublishedObjects(t, i.ID, 2500)
	w.kill()
	i = s.awaitImport(t, i.ID)
	wantCounts(t, i, counts{discovered: objects, published: objects})
	up, beside := s.shares(t, i.ID, 5)
	t.Logf("%d objects in %v: the server ran %d batches of %d pages, the worker %d of %d before it was killed", objects, i.EndedAt.Sub(i.CreatedAt).Round(100*time.Millisecond), up.batches, up.pages, beside.batches, beside.pages)
	if up.pages < 2 || beside.pages < 2 || beside.batches < 10 {
		t.Errorf("the server took %+v and the worker %+v", up, beside)
	}
	documents := s.imported(t)
	if len(documents) != objects {
		t.Errorf("%d objects became %d documents", objects, len(documents))
	}
	for n := range objects {
		if d := documents[b.externalID(b.key("notes/", n))]; d.PublishedVersion != 1 || d.Version != 1 || d.ChunkCount != 1 {
			t.Fatalf("object %d is %s with version %d, published %d", n, d.Status, d.Version, d.PublishedVersion)
		}
		if n%50 == 3 { // of both processes: the server finds the words and the vectors that the other wrote
			s.wantFound(t, s.wantObject(t, documents, b.externalID(b.key("notes/", n)), password(n)+".", 1), n)
		}
	}
}

// TestWorkerOverRestarts: a worker joins the server again that was killed, and the
// files and bytes that it has under way stay.
func TestWorkerOverRestarts(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 1500
	b.fill("notes/", objects)
	b.slow(60 * time.Millisecond)
	s, env := startForWorkers(t)
	w := s.startWorker(t, env...)
	i := s.begin(t, client.NewImport{Source: b.source("notes/")})
	s.awaitPublishedObjects(t, i.ID, 300)
	s.kill()
	s.restart()
	w.awaitReady(2)
	if last, err := s.Wait(t.Context(), i.RunID, nil); err != nil || last.Name != client.EventEnded {
		t.Errorf("the events end with %s, %v", last.Name, err)
	}
	i = s.awaitImport(t, i.ID)
	wantCounts(t, i, counts{discovered: objects, published: objects})
	documents := s.imported(t)
	for n := 0; n < objects; n += 25 {
		d := s.wantObject(t, documents, b.externalID(b.key("notes/", n)), password(n)+".", 1)
		res, err := s.send(t.Context(), "GET", "/workspaces/default/documents/"+d.ID+"/content", nil)
		if err != nil || res.StatusCode != 200 {
			t.Errorf("the original of object %d: %v, %v", n, res, err)
		}
		if err == nil {
			res.Body.Close()
		}
	}
	w.stop()
	if left, _ := filepath.Glob(filepath.Join(s.folder, "workers", "worker-*")); len(left) > 0 { // the pattern is well formed
		t.Errorf("the worker left %v", left)
	}
}

// TestWorkerModels: a worker embeds with the model of the server, or does not start.
func TestWorkerModels(t *testing.T) {
	t.Parallel()
	t.Run("uses the server's offline model", func(t *testing.T) {
		t.Parallel()
		b := newBucket(t)
		const objects = 900
		b.fill("notes/", objects)
		s := start(t, "CAIRN_EGRESS__ALLOW=127.0.0.0/8")
		s.startWorker(t, "CAIRN_EGRESS__ALLOW=127.0.0.0/8")
		i := s.runImport(t, client.NewImport{Source: b.source("notes/")})
		wantCounts(t, i, counts{discovered: objects, published: objects})
		if up, beside := s.shares(t, i.ID, 1); up.batches == 0 || beside.batches == 0 {
			t.Errorf("of one page the server took %+v and the worker %+v", up, beside)
		}
		s.wantFound(t, s.imported(t)[b.externalID(b.key("notes/", 77))], 77)
	})
	t.Run("refuses a configuration that differs", func(t *testing.T) {
		t.Parallel()
		s, _ := startForWorkers(t)
		code, _, said := command(t, nil, "worker", "--data", s.folder)
		if code != 2 || !strings.Contains(said, "the server's configuration") {
			t.Errorf("exit code %d, %q", code, said)
		}
	})
}

func TestWorkerWithoutServer(t *testing.T) {
	t.Parallel()
	code, _, said := command(t, nil, "worker", "--data", t.TempDir())
	if code != 3 || !strings.Contains(said, "cairn up") {
		t.Errorf("exit code %d, %q", code, said)
	}
	if code, _, said := command(t, nil, "worker", "--queues", "query"); code != 2 || !strings.Contains(said, "bulk") {
		t.Errorf("another queue: exit code %d, %q", code, said)
	}
}
