package intake_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// second returns an intake over the same folder with a store of its own, as another
// process has it. s may wrap that store.
func (f *fixture) second(s func(*store.Store) intake.Store) *intake.Intake {
	f.t.Helper()
	other, err := store.Open(f.t.Context(), store.Config{URL: "sqlite://" + f.folder + "/cairn.db", Joined: true})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := other.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return intake.New(intake.Config{FileBytes: 1 << 20, TextBytes: 1 << 10, RequestFiles: 3}, intake.Deps{
		Store: s(other), Blobs: f.blobs, Conversations: f.access, Workflows: noWorkflows{}, Secrets: f.secrets,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
}

// noWorkflows starts nothing. Safe for concurrent use.
type noWorkflows struct{}

func (noWorkflows) Ingest(context.Context, store.Version) error { return nil }

func (noWorkflows) IngestLater(context.Context, store.Version) error { return nil }

func (noWorkflows) RetryNow(context.Context, string, string) error { return nil }

// meeting is a store whose versions are added when both of two uploads have passed all
// other checks.
type meeting struct {
	*store.Store
	arrived *sync.WaitGroup
}

// AddVersion implements intake.Store.
func (m meeting) AddVersion(ctx context.Context, v store.NewVersion) (knowledge.Document, store.Version, error) {
	m.arrived.Done()
	m.arrived.Wait()
	return m.Store.AddVersion(ctx, v)
}

// TestLimitsOverTwoProcesses uploads a document to each of two processes at once. Each
// finds that there is room for one more.
func TestLimitsOverTwoProcesses(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]knowledge.LimitsConfig{"documents": {Documents: 1}, "bytes": {Bytes: 100}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			_, err := f.store.UpdateProject(t.Context(), f.key(knowledge.ScopeAdmin), f.project.ID, func(p *knowledge.Project) error {
				p.Config.Limits = limits
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			f.project.Config.Limits = limits
			var arrived, ended sync.WaitGroup
			arrived.Add(2)
			errs := make([]error, 2)
			for i := range errs {
				in := f.second(func(s *store.Store) intake.Store { return meeting{s, &arrived} })
				ended.Go(func() {
					_, errs[i] = in.Take(t.Context(), f.editor, f.project, intake.Run{ID: knowledge.NewID()}, intake.Document{Content: text(strings.Repeat("a", 60))})
				})
			}
			ended.Wait()
			if errs[0] != nil {
				errs[0], errs[1] = errs[1], errs[0]
			}
			if errs[0] != nil {
				t.Fatal(errs)
			}
			refused(t, errs[1], knowledge.CodeLimitReached)
			if left := f.originals(); len(left) != 1 {
				t.Errorf("left %v", left)
			}
		})
	}
}
