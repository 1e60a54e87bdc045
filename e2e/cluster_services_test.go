package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/service"
)

// services are the external services of a cluster. Each can be killed and starts again
// on its data.
type services struct {
	postgres, temporal, milvus *service.Process
	bucket                     *service.Bucket
}

// startServices starts the services, which end with the test. Without their programs the
// test is skipped, and fails in CI.
func startServices(t *testing.T) *services {
	t.Helper()
	tools, err := filepath.Abs(filepath.Join("..", "bin", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	boot := func(p *service.Process, err error) *service.Process {
		t.Helper()
		if errors.Is(err, service.ErrMissing) && os.Getenv("CI") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the last lines of the service at %s:\n%s", p.Address, p.LastLines(20))
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p
	}
	s := &services{}
	s.postgres = boot(service.Postgres("fsync=off", "full_page_writes=off", "max_connections=400"))
	s.temporal = boot(service.Temporal(tools, s.postgres))
	s.milvus = boot(service.Milvus(tools))
	if s.bucket, err = service.NewBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.bucket.Kill() }) // the test has ended
	return s
}

// startWholeCluster starts the services, and prepares a cluster whose stores are all in
// them.
func startWholeCluster(t *testing.T, env ...string) (*cluster, *services) {
	t.Helper()
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	s := startServices(t)
	c := newCluster(t, childserver.Endpoints{Temporal: s.temporal.Address}, slices.Concat([]string{
		"CAIRN_DATABASE__URL=" + s.postgres.PostgresURL("cairn"), "CAIRN_VECTOR__URL=" + s.milvus.MilvusURL(),
	}, s.bucket.Env(), env)...)
	if err := s.postgres.CreateDatabase(t.Context(), "cairn"); err != nil {
		t.Fatal(err)
	}
	c.migrate()
	return c, s
}
