package question

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// startPatience bounds the start of a workflow.
const startPatience = 10 * time.Second

// Config is what an operator may choose.
type Config struct {
	knowledge.InstanceLimits
	knowledge.InstanceFeatures
	// Shared reports that other processes start questions over the same store, which
	// count against the same limits. Defaults to false.
	Shared bool
}

// Starter starts questions. It is safe for concurrent use.
type Starter struct {
	cfg   Config
	deps  Deps
	rates limiter
}

// New returns a Starter.
func New(cfg Config, deps Deps) *Starter {
	s := &Starter{cfg: cfg, deps: deps, rates: newRates(deps.Now)}
	if cfg.Shared {
		s.rates = newSharedRates(deps.Store, deps.Now)
	}
	return s
}

// Started is a run that Start began, or found.
type Started struct {
	// Run is the run as it began. Beside an error, its ID is set where the run's
	// workflow may have been started all the same.
	Run store.Run
	// Repeated reports that an earlier request with the same Idempotency-Key began.
	Repeated bool
	// Allowance is what the tightest limit still allows, also beside an error.
	Allowance Allowance
	// Release lets the relay forget the run. The caller calls it when it has
	// stopped reading the run's events. It is nil beside an error.
	Release func()
}

// Start starts the run of a question, or finds the run that the same request
// started before. It holds the Idempotency-Key until the run has a workflow, so
// a run that an earlier request left without one was left by a process that
// died, and gets its workflow here.
func (s *Starter) Start(ctx context.Context, p knowledge.Principal, r Request) (Started, error) {
	audit.Asked(ctx, r.Text)
	claim, err := s.deps.Keys.Claim(ctx, p, r.Idempotency)
	if err != nil {
		return Started{}, err
	}
	defer claim.Leave()
	audit.Ran(ctx, claim.Run)
	if claim.Repeated {
		run, err := s.resumeRun(ctx, p, claim.Run)
		if err == nil {
			return Started{Run: run, Repeated: true, Release: func() {}}, nil
		}
		if !knowledge.IsCode(err, knowledge.CodeNotFound) {
			return Started{Repeated: true}, err
		}
	}
	started, err := s.start(ctx, p, claim.Run, r)
	started.Repeated = claim.Repeated
	if err != nil && started.Run.ID == "" {
		if err := claim.Free(context.WithoutCancel(ctx)); err != nil {
			s.deps.Log.ErrorContext(ctx, "free the Idempotency-Key of a question that did not start", "error", err)
		}
	}
	return started, err
}

// start checks the question and its limits, and begins its run.
func (s *Starter) start(ctx context.Context, p knowledge.Principal, id string, r Request) (Started, error) {
	if err := r.check(); err != nil {
		return Started{}, err
	}
	project, err := s.Project(ctx, p, r.Project)
	if err != nil {
		return Started{}, err
	}
	if r.Callback != nil && project.ID == "" {
		return Started{}, knowledge.Invalid("body.projectId", "is needed for a callback: the project's callbackSecret signs it")
	}
	setup, err := s.Setup(ctx, p, project, r)
	if err != nil {
		return Started{}, err
	}
	wrong := tool.ChoiceFields(r.ToolField, r.ToolChoice, setup.Config.Tools)
	if r.Form.IsJSON() && len(s.cfg.ChatModels) == 1 { // the offline model alone
		wrong = append(wrong, knowledge.Field{Location: r.FormField, Message: "must be text: the offline model writes no JSON; set models.chat"})
	}
	if err := knowledge.InvalidFields(wrong); err != nil {
		return Started{}, err
	}
	if err := r.checkSteps(setup.Config.Pipeline); err != nil {
		return Started{}, err
	}
	allowance, err := s.allow(ctx, p, project)
	if err != nil {
		return Started{Allowance: allowance}, err
	}
	started, err := s.begin(ctx, p, id, project.ID, r, setup)
	started.Allowance = allowance
	return started, err
}

// begin writes the snapshot and the row of a question that is allowed, and starts its
// workflow.
func (s *Starter) begin(ctx context.Context, p knowledge.Principal, id, project string, r Request, setup Setup) (Started, error) {
	if err := s.checkDocuments(ctx, p, r.Documents, setup.Projects); err != nil {
		return Started{}, err
	}
	p, r, attached, err := s.attach(ctx, p, id, project, r)
	if err != nil {
		return Started{}, err
	}
	snapshot, err := s.snapshot(ctx, p, id, r, setup)
	if err != nil {
		return Started{}, err
	}
	snapshot.Attachments = attached
	n := newRun(p, id, project, r, snapshot)
	if n.run.Accounts, err = quota.Accounts(ctx, p, project); err != nil {
		return Started{}, err
	}
	n.run.Reserves = len(n.run.Accounts) > 0
	if n.input.After, err = s.record(ctx, p, n); err != nil {
		s.giveUp(ctx, n.run)
		return Started{}, err
	}
	return s.startWorkflow(ctx, n)
}

// run is a run between its checks and its start.
type run struct {
	run          store.Run
	conversation *store.Conversation // a new one; nil = the run continues one, or keeps none
	snapshot     knowledge.Request
	input        record.AnswerInput
	first        stream.Entry // of the run's log
}

func newRun(p knowledge.Principal, id, project string, r Request, snapshot knowledge.Request) run {
	in := record.NewAnswerInput(knowledge.RunRef{Workspace: p.Workspace(), Project: project, Run: id}, snapshot)
	n := run{snapshot: snapshot, input: in, first: record.QueryStarted(in), run: store.Run{
		ID: id, Workspace: p.Workspace(), Project: project, Kind: r.Kind, Status: knowledge.RunRunning, WorkflowID: r.Kind.WorkflowID(p.Workspace(), id),
		Owner: p.Owner(), ConversationID: p.ConversationID(), Callback: r.Callback, CreatedAt: snapshot.Date,
	}}
	if r.Kind == knowledge.KindTool {
		n.first = record.ToolStarted(in)
	}
	if r.Converse {
		n.run.ConversationID = snapshot.ConversationID
	}
	if r.Converse && r.Conversation == "" {
		c := conversationOf(p, id, project, r, snapshot.Date)
		n.conversation = &c
	}
	return n
}

// conversationOf returns the new conversation of a run.
func conversationOf(p knowledge.Principal, run, project string, r Request, now time.Time) store.Conversation {
	return store.Conversation{
		ID: conversationID(run), Workspace: p.Workspace(), Project: project, Owner: p.Owner(), Title: title(r.Text), CreatedAt: now,
	}
}

// record writes the snapshot, and the rows of the run and of its conversation,
// side by side: neither is of use without the other, and a run whose start fails
// is ended. A row that a crash of the same request left stays as it is. record returns
// the run that this one has to wait for.
func (s *Starter) record(ctx context.Context, p knowledge.Principal, n run) (after string, err error) {
	var group errgroup.Group
	group.Go(func() error {
		if _, err := s.deps.Blobs.PutJSON(ctx, n.input.RequestKey(), n.snapshot); err != nil {
			return fmt.Errorf("write the request of run %s: %w", n.run.ID, err)
		}
		return nil
	})
	group.Go(func() error {
		var err error
		if after, err = s.deps.Store.StartRun(ctx, p, n.run, n.conversation); err != nil {
			return fmt.Errorf("add run %s: %w", n.run.ID, err)
		}
		return nil
	})
	err = group.Wait()
	return after, err
}

// startWorkflow starts the workflow of a run that is on record. It outlasts the
// caller's context: a client that leaves must not leave in doubt whether there
// is a workflow.
func (s *Starter) startWorkflow(ctx context.Context, n run) (Started, error) {
	stop := s.deps.Relay.Prime(
		stream.RunRef{Workspace: n.run.Workspace, Run: n.run.ID, WorkflowID: n.run.LogWorkflowID()},
		[]stream.Item{{Topic: n.first.Topic, Data: n.first.Data}},
		n.input.WordsNext(n.run.Kind),
	)
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer cancel()
	err := s.deps.Workflows.Answer(starting, n.run.Kind, n.input)
	if err == nil {
		return Started{Run: n.run, Release: stop}, nil
	}
	stop()
	err = fmt.Errorf("start run %s: %w", n.run.ID, err)
	if starting.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return Started{Run: n.run}, err
	}
	s.giveUp(ctx, n.run)
	return Started{}, err
}

// giveUp ends a run that has no workflow, so that no list shows it as running.
func (s *Starter) giveUp(ctx context.Context, r store.Run) {
	end := record.Failed(r.Kind, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the run could not be started"})
	err := s.deps.Store.EndRun(context.WithoutCancel(ctx), r.Workspace, r.ID, end.RunEnd("", s.deps.Now()))
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		s.deps.Log.ErrorContext(ctx, "end a run that did not start", "run", r.ID, "error", err)
	}
}

// resumeRun returns the run that an earlier request began, and starts its
// workflow again if it is running: the process of that request may have died
// before the start. A run without a stored request is CodeNotFound.
func (s *Starter) resumeRun(ctx context.Context, p knowledge.Principal, id string) (store.Run, error) {
	r, err := s.deps.Store.Run(ctx, p, id)
	if err != nil || r.Status != knowledge.RunRunning {
		return r, err
	}
	ref := knowledge.RunRef{Workspace: r.Workspace, Project: r.Project, Run: r.ID}
	snapshot, err := record.ReadRequest(ctx, s.deps.Blobs, ref)
	if errors.Is(err, blob.ErrNotFound) {
		return r, knowledge.NotFound("run", id)
	}
	if err != nil {
		return r, err
	}
	in := record.NewAnswerInput(ref, snapshot)
	in.After = r.After
	if err := s.deps.Workflows.Answer(ctx, r.Kind, in); err != nil {
		return r, fmt.Errorf("start run %s: %w", id, err)
	}
	return r, nil
}
