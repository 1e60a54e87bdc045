package intake_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
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
	return intake.New(intake.Config{InstanceLimits: knowledge.InstanceLimits{FileBytes: 1 << 20, TextBytes: 1 << 10}, RequestFiles: 3}, intake.Deps{
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

// seen is a blob store that calls look before each write.
type seen struct {
	*blob.Store
	look func(key string)
}

// PutReader implements intake.Blobs.
func (s seen) PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error) {
	s.look(key)
	return s.Store.PutReader(ctx, key, r)
}

// TestUploadLeases uploads files while another process looks for lost uploads: a large
// one has a lease before its bytes, and a small one costs no commit for one.
func TestUploadLeases(t *testing.T) {
	t.Parallel()
	pdf := func(bytes int) io.Reader { return strings.NewReader("%PDF-1.7\n" + strings.Repeat("x", bytes)) }
	for name, c := range map[string]struct {
		bytes int
		lost  time.Duration // a sweep takes uploads whose leases end within that time
		want  knowledge.Code
		sees  int // uploads
	}{
		"small.pdf":       {bytes: 60_000, lost: time.Hour},
		"large.pdf":       {bytes: 200_000},
		"interrupted.pdf": {bytes: 200_000, lost: time.Hour, want: knowledge.CodeUnavailable, sees: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			deps := f.deps
			deps.Blobs = seen{f.blobs, func(key string) {
				lost, err := f.store.TakeLostUploads(t.Context(), time.Now().Add(c.lost), 10)
				if err != nil || len(lost) != c.sees || c.sees > 0 && lost[0].SourceKey != key {
					t.Errorf("lost are %v, %v", lost, err)
				}
			}}
			b := intake.New(f.config, deps).NewBatch(f.editor, f.project, intake.Run{ID: knowledge.NewID()})
			err := b.Add(t.Context(), name, "", pdf(c.bytes))
			if err == nil {
				_, err = b.Accept(t.Context(), intake.Attributes{})
			}
			if c.want == "" && err != nil || c.want != "" && !knowledge.IsCode(err, c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if lost, err := f.store.TakeLostUploads(t.Context(), time.Now().Add(time.Hour), 10); err != nil || len(lost) != c.sees {
				t.Errorf("behind it %v are lost, %v", lost, err)
			}
		})
	}
}
