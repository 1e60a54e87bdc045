package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// server is cairn up as a child process on a temporary folder.
type server struct {
	*childserver.Server
	folder string
	spent  float64 // processor seconds of processes that were killed
}

// serve starts a server on a new folder; took is the time to readiness. The
// caller closes it with remove.
func (b *bench) serve(ctx context.Context, env ...string) (s *server, took time.Duration, err error) {
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return nil, 0, err
	}
	program, err := filepath.Abs(b.binary)
	if err != nil {
		return nil, 0, err
	}
	s = &server{folder: folder, Server: childserver.New(childserver.Config{
		Program: program, Data: filepath.Join(folder, "data"), Log: filepath.Join(folder, "log"),
		Env: append(env, "CAIRN_LOG__LEVEL=warn"), OwnGroup: true,
	})}
	if took, err = s.start(ctx); err != nil {
		return nil, 0, errors.Join(err, s.remove())
	}
	return s, took, nil
}

// serveWithModel starts a server that uses a stand-in model.
func (b *bench) serveWithModel(ctx context.Context, m *modeltest.Server) (s *server, took time.Duration, err error) {
	return b.serve(ctx, modelEnv(m)...)
}

// modelEnv lets a server use a stand-in model.
func modelEnv(m *modeltest.Server) []string { return childserver.Models(m.URL(), modeltest.ModelName) }

// start starts the process and returns when it is ready; took is the time to
// readiness.
func (s *server) start(ctx context.Context) (took time.Duration, err error) {
	begin := time.Now()
	if err := s.Start(ctx); err != nil {
		return 0, fmt.Errorf("%w; its last lines:\n%s", err, s.LastLines(30))
	}
	return time.Since(begin), nil
}

// kill ends the process with SIGKILL.
func (s *server) kill() error {
	s.spent = s.cpu()
	return s.Kill()
}

// remove ends the process and removes its folder.
func (s *server) remove() error {
	return errors.Join(s.Close(), os.RemoveAll(s.folder))
}
