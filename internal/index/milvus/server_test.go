package milvus_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/service"
)

// startTimeout bounds the start of a server.
const startTimeout = 60 * time.Second

// tools is the folder of .ci/stand-ins.
var tools = filepath.Join("..", "..", "..", "bin", "tools")

// light starts Milvus's light server, which has the whole schema. The test is skipped
// if it is not installed, but fails in CI.
func light(t testing.TB) *service.Process {
	t.Helper()
	return closed(t, started(t, service.Milvus))
}

// core starts Milvus's C++ core, which has neither partition keys nor HNSW. The test is
// skipped if it is not installed, but fails in CI.
func core(t testing.TB) *service.Process {
	t.Helper()
	return closed(t, started(t, service.MilvusCore))
}

var (
	sharedLight *service.Process
	startShared sync.Mutex
)

// shared returns a light server for all tests of the package, each of which uses
// collections of its own.
func shared(t testing.TB) *service.Process {
	t.Helper()
	startShared.Lock()
	defer startShared.Unlock()
	if sharedLight == nil {
		sharedLight = started(t, service.Milvus)
	}
	return sharedLight
}

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedLight != nil {
		_ = sharedLight.Close() // its folder is a temporary one
	}
	os.Exit(code)
}

// started starts a server that the caller closes.
func started(t testing.TB, server func(tools string) (*service.Process, error)) *service.Process {
	t.Helper()
	s, err := server(tools)
	if errors.Is(err, service.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err == nil {
		err = s.Start(context.WithoutCancel(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closed closes a server when the test has ended.
func closed(t testing.TB, s *service.Process) *service.Process {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
