package workflows_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// reindexTest is a project with outdated documents, numbered from 1. The workflow's
// activities see it as SQL has it.
type reindexTest struct {
	mu        sync.Mutex
	documents int
	refuse    map[int]bool
	started   []int // in order
	pending   int
	most      int // that were pending at a time
	publishes int // how many are published from one look to the next
	published int
	paused    []bool // as noted, changes only
	finished  []ingestion.FinishReindexInput
	pages     int
	onPage    func()
}

// environment returns a test environment with the activities of the project.
func (r *reindexTest) environment() *testsuite.TestWorkflowEnvironment {
	env := newEnvironment()
	env.RegisterActivity(&ingestion.Activities{})
	var acts ingestion.Activities
	env.OnActivity(acts.StartVersions, mock.Anything, mock.Anything).Maybe().Return(r.startVersions)
	env.OnActivity(acts.NoteReindex, mock.Anything, mock.Anything).Maybe().Return(r.note)
	env.OnActivity(acts.FinishReindex, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in ingestion.FinishReindexInput) error {
		r.finished = append(r.finished, in)
		return nil
	})
	return env
}

func (r *reindexTest) startVersions(_ context.Context, in ingestion.StartVersionsInput) (result ingestion.StartVersionsResult, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pages++
	next := 1
	if in.After != "" {
		if _, err := fmt.Sscanf(in.After, "d%06d", &next); err != nil {
			return result, err
		}
		next++
	}
	for ; next <= r.documents; next++ {
		if in.Limit--; in.Limit < 0 {
			result.After = fmt.Sprintf("d%06d", next-1)
			break
		}
		if r.refuse[next] {
			result.Refused++
			result.Refusals = append(result.Refusals, knowledge.Refusal{ID: fmt.Sprint(next), Code: knowledge.CodeEncrypted})
			continue
		}
		r.started = append(r.started, next)
		r.pending++
	}
	r.most = max(r.most, r.pending)
	if r.onPage != nil {
		r.onPage()
	}
	return result, nil
}

func (r *reindexTest) note(_ context.Context, in ingestion.ReindexState) (knowledge.ReindexProgress, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := min(r.publishes, r.pending)
	r.pending -= done
	r.published += done
	if len(r.paused) == 0 || r.paused[len(r.paused)-1] != in.Paused {
		r.paused = append(r.paused, in.Paused)
	}
	return knowledge.ReindexProgress{Matched: r.documents, Started: len(r.started), Published: r.published, Refused: in.Refused, Paused: in.Paused}, nil
}

func reindexInput() workflows.ReindexInput {
	return workflows.ReindexInput{ReindexState: ingestion.ReindexState{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "r"}}}
}

// want fails the test unless each document was started once, but those refused, and the
// run ended with this status.
func (r *reindexTest) want(t *testing.T, status knowledge.RunStatus) {
	t.Helper()
	var want []int
	for i := 1; i <= r.documents; i++ {
		if !r.refuse[i] {
			want = append(want, i)
		}
	}
	if diff := cmp.Diff(want, r.started); diff != "" {
		t.Errorf("documents (-want +started):\n%s", diff)
	}
	r.wantEnd(t, status)
}

func (r *reindexTest) wantEnd(t *testing.T, status knowledge.RunStatus) ingestion.FinishReindexInput {
	t.Helper()
	if len(r.finished) != 1 {
		t.Fatalf("%d ends", len(r.finished))
	}
	end := r.finished[0]
	if got := (record.Ending{Kind: knowledge.KindReindex, Error: end.Error}).Status(); got != status {
		t.Errorf("it ended as %s, %+v", got, end.Error)
	}
	last := end.Items[len(end.Items)-1].Topic
	if want := map[bool]string{true: stream.TopicError, false: stream.TopicEnded}[status == knowledge.RunCanceled]; last != want {
		t.Errorf("the last event is %s", last)
	}
	return end
}

func TestReindexProject(t *testing.T) {
	t.Parallel()
	t.Run("starts_each_document_once_in_pages", func(t *testing.T) {
		t.Parallel()
		r := &reindexTest{documents: 1234, publishes: 30, refuse: map[int]bool{7: true, 700: true}}
		env := r.environment()
		env.ExecuteWorkflow(workflows.ReindexProject, reindexInput())
		if err := env.GetWorkflowError(); err != nil {
			t.Fatal(err)
		}
		r.want(t, knowledge.RunCompleted)
		end := r.finished[0]
		if r.most > 200 || r.most < 150 || end.Refused != 2 || len(end.Refusals) != 2 || end.Seconds == 0 {
			t.Errorf("%d were pending at a time; the end is %+v", r.most, end)
		}
	})
	t.Run("names_the_first_refusals", func(t *testing.T) {
		t.Parallel()
		r := &reindexTest{documents: 150, publishes: 200, refuse: map[int]bool{}}
		for i := range 151 {
			r.refuse[i] = true
		}
		env := r.environment()
		env.ExecuteWorkflow(workflows.ReindexProject, reindexInput())
		if end := r.wantEnd(t, knowledge.RunCompleted); end.Refused != 150 || len(end.Refusals) != knowledge.MaxRefusals {
			t.Errorf("refused %d, named %d", end.Refused, len(end.Refusals))
		}
	})
	t.Run("of_nothing_ends_at_once", func(t *testing.T) {
		t.Parallel()
		r := &reindexTest{}
		env := r.environment()
		env.ExecuteWorkflow(workflows.ReindexProject, reindexInput())
		if r.want(t, knowledge.RunCompleted); r.pages != 1 {
			t.Errorf("%d pages", r.pages)
		}
	})
	t.Run("a_pause_starts_nothing_until_it_is_resumed", func(t *testing.T) {
		t.Parallel()
		r := &reindexTest{documents: 500, publishes: 100}
		env := r.environment()
		r.onPage = func() {
			if r.pages == 2 {
				env.SignalWorkflow(workflows.SignalReindex, workflows.ReindexControl{Paused: true})
			}
		}
		env.RegisterDelayedCallback(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.started) != 200 {
				t.Errorf("%d versions were started before the resume", len(r.started))
			}
			env.SignalWorkflow(workflows.SignalReindex, workflows.ReindexControl{})
		}, time.Hour)
		env.ExecuteWorkflow(workflows.ReindexProject, reindexInput())
		r.want(t, knowledge.RunCompleted)
		if diff := cmp.Diff([]bool{false, true, false}, r.paused); diff != "" {
			t.Errorf("noted (-want +got):\n%s", diff)
		}
		if seconds := r.finished[0].Seconds; seconds >= 3600 {
			t.Errorf("the pause counts as work: %f s", seconds)
		}
	})
	t.Run("a_cancel_ends_it_also_while_it_is_paused", func(t *testing.T) {
		t.Parallel()
		for _, paused := range []bool{false, true} {
			r := &reindexTest{documents: 500}
			env := r.environment()
			env.RegisterDelayedCallback(func() {
				if paused {
					env.SignalWorkflow(workflows.SignalReindex, workflows.ReindexControl{Paused: true})
				}
			}, time.Second)
			env.RegisterDelayedCallback(env.CancelWorkflow, 2*time.Second)
			env.ExecuteWorkflow(workflows.ReindexProject, reindexInput())
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			if end := r.wantEnd(t, knowledge.RunCanceled); len(r.started) != 200 || end.Paused {
				t.Errorf("%d versions were started; the end is %+v", len(r.started), end)
			}
		}
	})
}

// TestLongReindex suggests a continue-as-new at every turn.
func TestLongReindex(t *testing.T) {
	t.Parallel()
	r := &reindexTest{documents: 950, publishes: 60, refuse: map[int]bool{300: true, 900: true}}
	in, runs := reindexInput(), 0
	for {
		env := r.environment()
		env.SetContinueAsNewSuggested(true)
		env.ExecuteWorkflow(workflows.ReindexProject, in)
		runs++
		if err := env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = continued[workflows.ReindexInput](t, env.GetWorkflowError())
	}
	r.want(t, knowledge.RunCompleted)
	if end := r.finished[0]; runs < 15 || end.Refused != 2 || end.Run != "r" {
		t.Errorf("after %d runs the end is %+v", runs, end)
	}
}
