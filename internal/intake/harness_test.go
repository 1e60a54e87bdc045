package intake_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/store"
)

// fixture is an Intake over a real store and a real blob store. The workflows
// that it starts are recorded.
type fixture struct {
	t       *testing.T
	folder  string // of the stores
	config  intake.Config
	deps    intake.Deps
	intake  *intake.Intake
	store   *store.Store
	blobs   *blob.Store
	access  *access.Authenticator
	secrets *secret.Box
	editor  knowledge.Principal // may write in the workspace default
	project knowledge.Project
	starts  []store.Version // ingestions
	fail    error           // of every start
}

// Ingest implements intake.Workflows.
func (f *fixture) Ingest(ctx context.Context, v store.Version) error {
	f.starts = append(f.starts, v)
	return errors.Join(f.fail, ctx.Err())
}

// RetryNow implements intake.Workflows.
func (f *fixture) IngestLater(ctx context.Context, v store.Version) error { return f.Ingest(ctx, v) }

func (f *fixture) RetryNow(context.Context, string, string) error { return f.fail }

func open(t *testing.T) *fixture {
	t.Helper()
	ctx := t.Context()
	f := &fixture{t: t, folder: t.TempDir(), project: knowledge.Project{ID: "default", Workspace: "default", Name: "Default"}}
	var err error
	if f.store, err = store.Open(ctx, store.Config{URL: "sqlite://" + f.folder + "/cairn.db"}); err != nil {
		t.Fatal(err)
	}
	if f.blobs, err = blob.Open(ctx, "file://"+f.folder+"/blobs"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.store.Close(), f.blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := f.store.CreateWorkspace(ctx, store.Workspace{ID: "default", Name: "default"}); err != nil {
		t.Fatal(err)
	}
	if err := f.store.CreateProject(ctx, f.project); err != nil {
		t.Fatal(err)
	}
	f.access = access.New(access.Config{}, f.store, []byte("a secret to sign with"))
	f.editor = f.key(knowledge.ScopeWrite)
	if f.secrets, err = secret.NewBox(secret.NewKey()); err != nil {
		t.Fatal(err)
	}
	f.config = intake.Config{InstanceLimits: knowledge.InstanceLimits{FileBytes: 1 << 20, TextBytes: 1 << 10}, RequestFiles: 3}
	f.deps = intake.Deps{
		Store: f.store, Blobs: f.blobs, Conversations: f.access, Workflows: f, Secrets: f.secrets, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	f.intake = intake.New(f.config, f.deps)
	return f
}

// key returns the principal of a new key.
func (f *fixture) key(scope knowledge.Scope) knowledge.Principal {
	f.t.Helper()
	plain, hash, prefix := access.NewKey()
	err := f.store.CreateKey(f.t.Context(), store.Key{
		ID: knowledge.NewID(), Workspace: "default", Name: "test", Hash: hash, Prefix: prefix, Scopes: []knowledge.Scope{scope},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	p, err := f.access.Authenticate(f.t.Context(), access.Credentials{Key: plain})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// as returns the editor as it acts for an external user.
func (f *fixture) as(user string) knowledge.Principal {
	f.t.Helper()
	p, err := f.access.As(f.t.Context(), f.editor, access.Acting{ExternalUser: user})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// conversation makes a conversation of p and returns its id.
func (f *fixture) conversation(p knowledge.Principal) string {
	f.t.Helper()
	c, err := f.store.EnsureConversation(f.t.Context(), p, store.Conversation{
		ID: knowledge.NewID(), Workspace: p.Workspace(), Owner: p.Owner(), CreatedAt: time.Now(),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return c.ID
}

func (f *fixture) take(d intake.Document) (knowledge.Document, error) {
	f.t.Helper()
	taken, err := f.intake.Take(f.t.Context(), f.editor, f.project, intake.Run{ID: knowledge.NewID()}, d)
	return taken.Document, err
}

// originals returns the keys of all blobs.
func (f *fixture) originals() []string {
	f.t.Helper()
	keys := []string{}
	for object, err := range f.blobs.List(f.t.Context(), "") {
		if err != nil {
			f.t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

func text(s string) intake.Content { return intake.Content{Text: &s} }

func address(s string) intake.Content { return intake.Content{URL: &s} }

// refused fails the test unless err has the code, and names these locations.
func refused(t *testing.T, err error, code knowledge.Code, locations ...string) {
	t.Helper()
	e := knowledge.AsError(err)
	var got []string
	for _, field := range e.Fields {
		got = append(got, field.Location)
	}
	if err == nil || e.Code != code || !slices.Equal(got, locations) {
		t.Errorf("%v at %v, want %s at %v", err, got, code, locations)
	}
}
