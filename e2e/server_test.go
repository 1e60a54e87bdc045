package e2e_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// server is cairn up as a child process on a data folder of its own.
type server struct {
	*client.Client
	t      *testing.T
	child  *childserver.Server
	folder string // the data folder
	log    string // the file with the process's output
	ends   childserver.Endpoints
	key    string

	namespace string // of its workflows, "" = the namespace of a server with Temporal in its process
}

// start starts a server with the given variables ("NAME=value") and returns
// when it is ready. It ends with the test. The path of its folder has a space.
func start(t *testing.T, env ...string) *server {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "data folder"), env...)
}

// startIn starts a server on a data folder.
func startIn(t *testing.T, folder string, env ...string) *server {
	t.Helper()
	return startProgram(t, binary, folder, env...)
}

// startProgram starts a server by a program that runs the one under test.
func startProgram(t *testing.T, program, folder string, env ...string) *server {
	t.Helper()
	s := &server{t: t, folder: folder, log: filepath.Join(t.TempDir(), "log")}
	s.child = childserver.New(childserver.Config{Program: program, Data: s.folder, Log: s.log, Env: env})
	slots <- struct{}{}
	t.Cleanup(func() {
		err := s.child.Close()
		<-slots
		if err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the server's last lines:\n%s", s.child.LastLines(30))
		}
	})
	s.boot()
	return s
}

// at returns the variables that point a server at a stand-in model.
func at(url string, more ...string) []string {
	return append(childserver.Models(url, modeltest.ModelName), more...)
}

// standIn starts a stand-in model that ends with the test.
func standIn(t *testing.T, options modeltest.Options) *modeltest.Server {
	t.Helper()
	m := modeltest.New(options)
	t.Cleanup(m.Close)
	return m
}

// boot starts the process on its folder: on free ports the first time, and on
// the same ones from then on.
func (s *server) boot() {
	s.t.Helper()
	err := s.child.Start(s.t.Context())
	if err == nil {
		s.Client, err = s.child.Client()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.ends, s.key = s.child.Endpoints(), s.child.Key()
}

// kill ends the process alone with SIGKILL, and returns when it and its parsers
// have ended.
func (s *server) kill() {
	s.t.Helper()
	if err := s.child.Kill(); err != nil {
		s.t.Fatal(err)
	}
}

// restart starts the process again, on the same folder and ports.
func (s *server) restart() {
	s.t.Helper()
	s.boot()
}

// stop ends the process with SIGTERM and checks that it ends without an error
// and in time.
func (s *server) stop() {
	s.t.Helper()
	if err := s.child.Stop(); err != nil {
		s.t.Fatal(err)
	}
}

// endsWithin waits until a check succeeds. One that begins later than limit behind a moment must: how long
// it takes itself is not counted, so a slow machine fails nothing.
func endsWithin(t *testing.T, since time.Time, limit time.Duration, what string, check func() error) {
	t.Helper()
	for {
		began := time.Now()
		err := check()
		if err == nil {
			return
		}
		if late := began.Sub(since); late > limit {
			t.Fatalf("%v later, not yet: %s: %v", late, what, err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// await calls check until it returns nil. The failure names what was awaited.
func await(t *testing.T, limit time.Duration, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v until %s: %v", limit, what, err)
		case <-ticker.C:
		}
	}
}
