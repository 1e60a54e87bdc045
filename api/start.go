package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// maxQuestion bounds a question, in code points.
const maxQuestion = 32_000

// question is what starts a run that ends in an answer.
type question struct {
	run        string // set by begin
	kind       knowledge.RunKind
	field      string // of the question's text, for errors
	text       string
	project    string
	documents  []string
	filter     knowledge.Filter
	tags       []string
	toolChoice string
	override   json.RawMessage // of the project's configuration
	converse   bool            // keep a conversation
	session    string          // the conversation to go on with, "" = a new one
}

// begun is a run that was started.
type begun struct {
	stop func() // lets the relay forget the run; call it when nobody reads
	// unsure says beside an error that the run's workflow may have been started:
	// its row and its key stay, and whoever comes next starts it or finds it.
	unsure bool
}

// begin checks a question, writes its snapshot and starts its workflow. The run
// id comes from the caller, so that a repeated request finds the same run.
func (s *Server) begin(ctx context.Context, p knowledge.Principal, run string, q question) (begun, error) {
	if err := checkQuestion(q); err != nil {
		return begun{}, err
	}
	project, err := s.projectFor(ctx, p, q.project)
	if err != nil {
		return begun{}, err
	}
	q.run, q.project = run, project.ID // which it may not have named, or by its name
	request, err := s.snapshot(ctx, p, q, project)
	if err != nil {
		return begun{}, err
	}
	in := workflows.NewAnswerInput(knowledge.RunRef{Workspace: p.Workspace(), Project: q.project, Run: run}, request)
	ref := stream.RunRef{Workspace: p.Workspace(), Run: run, WorkflowID: q.kind.WorkflowID(p.Workspace(), run)}
	first := workflows.QueryStarted(in)
	if q.kind == knowledge.KindTool {
		first = workflows.ToolStarted()
	}
	if err := s.launch(ctx, p, q, in, ref, request); err != nil {
		s.giveUp(ctx, p, run)
		return begun{}, err
	}
	stop := s.deps.Relay.Prime(ref, []stream.Item{{Topic: first.Topic, Data: first.Data}})
	// A client that leaves must not leave in doubt whether there is a workflow.
	starting, cancel := detached(ctx)
	defer cancel()
	if err := s.deps.Answers.Answer(starting, q.kind, in); err != nil {
		stop()
		unsure := starting.Err() != nil || errors.Is(err, context.DeadlineExceeded)
		if !unsure {
			s.giveUp(ctx, p, run)
		}
		return begun{unsure: unsure}, fmt.Errorf("start run %s: %w", run, err)
	}
	return begun{stop: stop}, nil
}

// giveUp ends a run that did not start, whose row would tell of a run that
// nobody holds.
func (s *Server) giveUp(ctx context.Context, p knowledge.Principal, run string) {
	end := store.RunEnd{Status: knowledge.RunFailed, At: s.now(), Error: &knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the run could not be started"}}
	err := s.deps.Store.EndRun(context.WithoutCancel(ctx), p.Workspace(), run, end)
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		s.deps.Log.ErrorContext(ctx, "end a run that did not start", "run", run, "error", err)
	}
}

// launch writes the snapshot and the run's row, side by side: neither is of use
// without the other, and a run whose start fails is ended.
func (s *Server) launch(ctx context.Context, p knowledge.Principal, q question, in workflows.AnswerInput, ref stream.RunRef, request knowledge.Request) error {
	var group errgroup.Group
	group.Go(func() error {
		if _, err := s.deps.Blobs.PutJSON(ctx, in.RequestKey(), request); err != nil {
			return fmt.Errorf("write the request of run %s: %w", in.Run, err)
		}
		return nil
	})
	group.Go(func() error {
		err := s.deps.Store.AddRun(ctx, store.Run{
			ID: in.Run, Workspace: p.Workspace(), Project: q.project, Kind: q.kind, Status: knowledge.RunRunning, WorkflowID: ref.WorkflowID,
			Owner: p.Owner(), ConversationID: cmp.Or(request.ConversationID, p.ConversationID()), CreatedAt: s.now(),
		})
		// There is a row already where a crash broke the same request off before.
		if err != nil && !knowledge.IsCode(err, knowledge.CodeConflict) {
			return fmt.Errorf("add run %s: %w", in.Run, err)
		}
		return nil
	})
	return group.Wait()
}

// snapshot checks the question against what the principal may do and gathers
// what the run needs to know.
func (s *Server) snapshot(ctx context.Context, p knowledge.Principal, q question, project knowledge.Project) (knowledge.Request, error) {
	request := knowledge.Request{
		Principal: p, Kind: q.kind, Question: q.text, Documents: q.documents, Filter: q.filter,
		ToolChoice: q.toolChoice, ExecutionID: "call_" + strings.ReplaceAll(knowledge.NewID(), "-", ""), Date: s.now(),
	}
	if len(q.tags) > 0 {
		request.Filter = append(request.Filter, knowledge.Condition{Field: "tags", Type: knowledge.OpIn, Value: q.tags})
	}
	if project.ID != "" {
		request.Projects = []string{project.ID}
	}
	preferred, err := s.preferences(ctx, p)
	if err != nil {
		return request, err
	}
	if request.Config, err = overridden(preferred.over(project.Config), q.override); err != nil {
		return request, err
	}
	if err := s.allowQuery(p, project); err != nil {
		return request, err
	}
	if err := s.checkDocuments(ctx, p, q.documents); err != nil {
		return request, err
	}
	if !q.converse {
		return request, nil
	}
	return request, s.converse(ctx, p, q, &request)
}

// converse takes up the conversation, or makes a new one. Ids are made of the
// run's, so that a run which is begun again has no second conversation.
func (s *Server) converse(ctx context.Context, p knowledge.Principal, q question, request *knowledge.Request) error {
	request.QuestionID, request.MessageID = knowledge.DerivedID("question", q.run), knowledge.DerivedID("message", q.run)
	request.ConversationID = q.session
	if q.session == "" {
		request.ConversationID = knowledge.DerivedID("conversation", q.run)
		_, err := s.deps.Store.EnsureConversation(ctx, p, store.Conversation{
			ID: request.ConversationID, Workspace: p.Workspace(), Project: q.project, Owner: p.Owner(), Title: title(q.text), CreatedAt: s.now(),
		})
		if err != nil {
			return fmt.Errorf("make conversation: %w", err)
		}
		return nil
	}
	messages, err := s.deps.Store.LastMessages(ctx, p, q.session, *request.Config.AI.History.Messages)
	if err != nil {
		return fmt.Errorf("read conversation %s: %w", q.session, err)
	}
	history := make([]knowledge.Message, 0, len(messages))
	for _, m := range messages {
		if m.Text != "" {
			history = append(history, knowledge.Message{Role: m.Role, Content: citation.Strip(m.Text)})
		}
	}
	request.History = prompt.History(history, request.Config.AI.History.Tokens)
	return nil
}

// projectFor gives the project that a request names. Without a name it is the
// one that the key is held to, or, for a key to all, the defaults.
func (s *Server) projectFor(ctx context.Context, p knowledge.Principal, id string) (knowledge.Project, error) {
	if id == "" {
		id = p.Project()
	}
	if id == "" {
		return knowledge.Project{Workspace: p.Workspace()}, nil
	}
	project, err := s.deps.Store.Project(ctx, p, id)
	if err != nil {
		return project, fmt.Errorf("read project %s: %w", id, err)
	}
	return project, nil
}

// projectID gives the id of the project by which a list is narrowed, which may
// be named by its name; "" = not narrowed.
func (s *Server) projectID(ctx context.Context, p knowledge.Principal, idOrName string) (string, error) {
	if idOrName == "" {
		return "", nil
	}
	project, err := s.deps.Store.Project(ctx, p, idOrName)
	if err != nil {
		return "", fmt.Errorf("read project %s: %w", idOrName, err)
	}
	return project.ID, nil
}

func (s *Server) checkDocuments(ctx context.Context, p knowledge.Principal, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	missing, err := s.deps.Store.UnreachedDocuments(ctx, p, ids)
	if err != nil {
		return fmt.Errorf("check documents: %w", err)
	}
	if len(missing) > 0 {
		return knowledge.NotFound("document", missing[0])
	}
	return nil
}

func checkQuestion(q question) error {
	field := "body." + q.field
	switch {
	case strings.TrimSpace(q.text) == "":
		return invalid(field, "must not be empty")
	case utf8.RuneCountInString(q.text) > maxQuestion:
		return invalid(field, "must have at most %d characters", maxQuestion)
	}
	return invalidFields(append(tagFields(q.tags), q.filter.Fields("body.filters")...))
}

func title(text string) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return line
}
