package question_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// fixture is a Starter over a real store and a real blob store. The workflows
// that it starts are recorded.
type fixture struct {
	t       *testing.T
	starter *question.Starter
	store   *store.Store
	blobs   *blob.Store
	reader  knowledge.Principal
	starts  []record.AnswerInput
	writes  []string // to SQL and to the blob store, in any order
	writing sync.Mutex
	primed  []string // runs that the relay follows now
	fail    error    // of every start
	refused error    // of every write of a snapshot
}

// Answer implements question.Workflows.
func (f *fixture) Answer(ctx context.Context, _ knowledge.RunKind, in record.AnswerInput) error {
	f.starts = append(f.starts, in)
	return errors.Join(f.fail, ctx.Err())
}

// Prime implements question.Relay.
func (f *fixture) Prime(run stream.RunRef, _ []stream.Item, _ bool) (stop func()) {
	f.primed = append(f.primed, run.Run)
	return func() { f.primed = slices.DeleteFunc(f.primed, func(id string) bool { return id == run.Run }) }
}

func (f *fixture) wrote(what string) {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.writes = append(f.writes, what)
}

// rows is a store that records its writes.
type rows struct {
	*store.Store
	f *fixture
}

// StartRun implements question.Store.
func (r rows) StartRun(ctx context.Context, p knowledge.Principal, run store.Run, c *store.Conversation) (after string, err error) {
	r.f.wrote("StartRun")
	return r.Store.StartRun(ctx, p, run, c)
}

// EndRun implements question.Store.
func (r rows) EndRun(ctx context.Context, workspace, id string, end store.RunEnd) error {
	r.f.wrote("EndRun")
	return r.Store.EndRun(ctx, workspace, id, end)
}

// snapshots is a blob store that can refuse writes, and records them.
type snapshots struct {
	*blob.Store
	f *fixture
}

// PutJSON implements question.Blobs.
func (s snapshots) PutJSON(ctx context.Context, key string, v any) (blob.Ref, error) {
	s.f.wrote("PutJSON")
	if s.f.refused != nil {
		return blob.Ref{}, s.f.refused
	}
	return s.Store.PutJSON(ctx, key, v)
}

func open(t *testing.T) *fixture {
	t.Helper()
	ctx := t.Context()
	f := &fixture{t: t}
	var err error
	if f.store, err = store.Open(ctx, store.Config{URL: "sqlite://" + t.TempDir() + "/cairn.db"}); err != nil {
		t.Fatal(err)
	}
	if f.blobs, err = blob.Open(ctx, "file://"+t.TempDir()); err != nil {
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
	project := knowledge.Project{ID: "p", Workspace: "default", Name: "House"}
	project.Config.AI.Model = "the project's"
	if err := f.store.CreateProject(ctx, project); err != nil {
		t.Fatal(err)
	}
	authenticator := access.New(access.Config{}, f.store, []byte("a secret to sign with"))
	plain, hash, prefix := access.NewKey()
	key := store.Key{ID: knowledge.NewID(), Workspace: "default", Name: "test", Hash: hash, Prefix: prefix, Scopes: []knowledge.Scope{knowledge.ScopeRead}}
	if err := f.store.CreateKey(ctx, key); err != nil {
		t.Fatal(err)
	}
	if f.reader, err = authenticator.Authenticate(ctx, access.Credentials{Key: plain}); err != nil {
		t.Fatal(err)
	}
	f.starter = question.New(question.Config{}, question.Deps{
		Store: rows{f.store, f}, Blobs: snapshots{f.blobs, f}, Keys: idempotency.New(f.store, "", time.Now), Workflows: f, Relay: f,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	return f
}

func (f *fixture) start(change ...func(*question.Request)) (question.Started, error) {
	f.t.Helper()
	r := question.Request{Kind: knowledge.KindQuery, TextField: "body.text", Text: "How many days of leave are there?", Project: "p", Converse: true}
	for _, c := range change {
		c(&r)
	}
	return f.starter.Start(f.t.Context(), f.reader, r)
}

func key(name string) func(*question.Request) {
	return func(r *question.Request) {
		r.Idempotency = idempotency.Request{Key: name, Route: "query", Hash: idempotency.Hash([]byte(r.Text))}
	}
}

func (f *fixture) request(run string) knowledge.Request {
	f.t.Helper()
	var r knowledge.Request
	if err := f.blobs.GetJSON(f.t.Context(), knowledge.RunRef{Workspace: "default", Run: run}.RequestKey(), &r); err != nil {
		f.t.Fatal(err)
	}
	return r
}

func TestStart(t *testing.T) {
	t.Parallel()
	f := open(t)
	started, err := f.start()
	if err != nil {
		t.Fatal(err)
	}
	run, err := f.store.Run(t.Context(), f.reader, started.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, started.Run, cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Millisecond })); diff != "" {
		t.Errorf("the run that is returned is not the one on record: %s", diff)
	}
	slices.Sort(f.writes)
	if diff := cmp.Diff([]string{"PutJSON", "StartRun"}, f.writes); diff != "" {
		t.Errorf("one transaction and one blob come before the workflow: %s", diff)
	}
	snapshot := f.request(run.ID)
	if snapshot.Config.AI.Model != "the project's" || !slices.Equal(snapshot.Projects, []string{"p"}) || snapshot.ConversationID != run.ConversationID {
		t.Errorf("snapshot: %+v", snapshot)
	}
	if c, err := f.store.Conversation(t.Context(), f.reader, run.ConversationID); err != nil || c.Title != snapshot.Question {
		t.Errorf("conversation %+v, %v", c, err)
	}
	if len(f.starts) != 1 || f.starts[0].Run != run.ID || !slices.Equal(f.primed, []string{run.ID}) {
		t.Errorf("started %v, the relay follows %v", f.starts, f.primed)
	}
	if started.Release(); len(f.primed) != 0 {
		t.Error("a released run is still followed")
	}
}

// TestStartLayersTheConfiguration: the user's preference goes before the
// project's setting, and the question's override before both.
func TestStartLayersTheConfiguration(t *testing.T) {
	t.Parallel()
	f := open(t)
	model := func(change ...func(*question.Request)) string {
		started, err := f.start(change...)
		if err != nil {
			t.Fatal(err)
		}
		return f.request(started.Run.ID).Config.AI.Model
	}
	if err := f.store.SetPreferences(t.Context(), f.reader, []byte(`{"rag":{"model":"mine"}}`)); err != nil {
		t.Fatal(err)
	}
	if got := model(); got != "mine" {
		t.Errorf("with a preference: %s", got)
	}
	if got := model(func(r *question.Request) { r.Override = []byte(`{"ai":{"model":"this time"}}`) }); got != "this time" {
		t.Errorf("with an override: %s", got)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	f := open(t)
	for name, c := range map[string]struct {
		change   func(*question.Request)
		code     knowledge.Code
		location string
	}{
		"an empty question":      {func(r *question.Request) { r.Text = " \n" }, knowledge.CodeInvalid, "body.text"},
		"a long question":        {func(r *question.Request) { r.Text = strings.Repeat("é", question.MaxLength+1) }, knowledge.CodeInvalid, "body.text"},
		"an unknown project":     {func(r *question.Request) { r.Project = "q" }, knowledge.CodeNotFound, ""},
		"an unknown document":    {func(r *question.Request) { r.Documents = []string{"d"} }, knowledge.CodeNotFound, ""},
		"a foreign conversation": {func(r *question.Request) { r.Conversation = "c" }, knowledge.CodeNotFound, ""},
		"a setting out of range": {func(r *question.Request) {
			r.Override = []byte(`{"ai":{"textSplitter":{"chunkSize":100,"chunkOverlap":90}}}`)
		}, knowledge.CodeInvalid, "body.projectConfigOverride.ai.textSplitter.chunkOverlap"},
		"an override of the tags":              {func(r *question.Request) { r.Override = []byte(`{"ai":{"tags":["a"]}}`) }, knowledge.CodeInvalid, "body.projectConfigOverride.ai.tags"},
		"an override of what is personal data": {func(r *question.Request) { r.Override = []byte(`{"privacy":{"entities":["IBAN_CODE"]}}`) }, knowledge.CodeInvalid, "body.projectConfigOverride.privacy"},
		"an empty tag":                         {func(r *question.Request) { r.Tags = []string{""} }, knowledge.CodeInvalid, "body.tags[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			started, err := f.start(c.change, key(name))
			e := knowledge.AsError(err)
			if err == nil || e.Code != c.code || c.location != "" && (len(e.Fields) != 1 || e.Fields[0].Location != c.location) {
				t.Fatalf("%v %+v", err, e.Fields)
			}
			if started.Run.ID != "" || len(f.starts) != 0 {
				t.Errorf("started %v", f.starts)
			}
			if runs, _, err := f.store.Runs(t.Context(), f.reader, store.RunQuery{}); err != nil || len(runs) != 0 {
				t.Errorf("on record: %v, %v", runs, err)
			}
		})
	}
	t.Run("and_frees_the_key", func(t *testing.T) {
		if _, err := f.start(key("an empty question")); err != nil {
			t.Error(err)
		}
	})
}

func TestRepeatedStart(t *testing.T) {
	t.Parallel()
	f := open(t)
	first, err := f.start(key("k"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.start(key("k"))
	if err != nil || !again.Repeated || again.Run.ID != first.Run.ID || first.Repeated {
		t.Errorf("%+v, %v", again, err)
	}
	if len(f.starts) != 2 || !cmp.Equal(f.starts[0], f.starts[1]) {
		t.Errorf("a run without an end is started again as it was: %+v", f.starts)
	}
	if _, err := f.start(key("k"), func(r *question.Request) { r.Idempotency.Hash = "other" }); !knowledge.IsCode(err, knowledge.CodeConflict) {
		t.Errorf("another question with the same key: %v", err)
	}
}

func TestStartThatFails(t *testing.T) {
	t.Parallel()
	status := func(f *fixture) knowledge.RunStatus {
		f.t.Helper()
		runs, _, err := f.store.Runs(f.t.Context(), f.reader, store.RunQuery{})
		if err != nil || len(runs) != 1 {
			f.t.Fatalf("%v, %v", runs, err)
		}
		return runs[0].Status
	}
	t.Run("because_the_workflow_is_refused", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		f.fail = errors.New("refused")
		started, err := f.start(key("k"))
		if err == nil || started.Run.ID != "" || status(f) != knowledge.RunFailed || len(f.primed) != 0 {
			t.Errorf("%+v, %v: the run is ended", started, err)
		}
		f.fail = nil
		if again, err := f.start(key("k")); err != nil || again.Repeated {
			t.Errorf("%+v, %v: the key is free", again, err)
		}
	})
	t.Run("with_an_outcome_that_is_not_known", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		f.fail = context.DeadlineExceeded
		started, err := f.start(key("k"))
		if err == nil || started.Run.ID == "" || status(f) != knowledge.RunRunning {
			t.Errorf("%+v, %v: the run may have a workflow", started, err)
		}
		f.fail = nil
		if again, err := f.start(key("k")); err != nil || again.Run.ID != started.Run.ID {
			t.Errorf("%+v, %v: a repetition finds it", again, err)
		}
	})
	t.Run("because_the_snapshot_cannot_be_written", func(t *testing.T) {
		t.Parallel()
		f := open(t)
		f.refused = blob.ErrNoSpace
		started, err := f.start(key("k"))
		if !errors.Is(err, blob.ErrNoSpace) || started.Run.ID != "" || len(f.starts) != 0 || status(f) != knowledge.RunFailed {
			t.Errorf("%+v, %v: nothing is started", started, err)
		}
	})
}
