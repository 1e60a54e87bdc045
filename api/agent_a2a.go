package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/a2a"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sse"
	"github.com/cairn-rag/cairn/internal/store"
)

// a2aPath is where clients of the A2A protocol post their calls, below the address of the agent.
const a2aPath = "/a2a"

func (ar *agentRoutes) mountA2A(e *edge.Edge, route func(id, method, path, summary, description string, status int) edge.Route) {
	anything := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}}
	card := route("get-agent-card", http.MethodGet, cardPath, "The card of an agent (A2A)", "", 0)
	card.Responses = map[string]*huma.Response{"200": {Description: "The card, as the A2A protocol describes it", Content: anything}}
	card.Parameters = agentParameters()
	edge.HandleRaw(e, card, ar.card)
	call := route("call-agent", http.MethodPost, a2aPath, "Call an agent by the A2A protocol",
		"JSON-RPC: SendMessage, SendStreamingMessage, GetTask, CancelTask and SubscribeToTask of version 1.0, and their names in version 0.3 (docs/agents.md). Callers of a public agent need no credentials.", 0)
	call.RequestBody = &huma.RequestBody{Content: anything}
	call.Responses = map[string]*huma.Response{"200": {Description: "The response of JSON-RPC, or a stream of them", Content: map[string]*huma.MediaType{
		"application/json": anything["application/json"], "text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}},
	}}}
	call.Parameters = agentParameters()
	edge.HandleRaw(e, call, ar.call)
}

func (ar *agentRoutes) card(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) {
	pub, err := ar.visitors.open(r)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	at := ar.visitors.edge.Address(r) + agentPath(pub)
	agent := a2a.Agent{
		Name: pub.Title, Description: pub.Description, Skill: "Answer questions from documents", Examples: pub.Starters, URL: at + a2aPath,
		Version: pub.UpdatedAt.UTC().Format("2006.01.02-150405"), Closed: pub.Visibility != knowledge.VisiblePublic,
	}
	if agent.Description == "" {
		agent.Description = pub.Title
	}
	if _, _, ok := pub.Picture(); ok {
		agent.IconURL = at + "/avatar"
	}
	edge.WriteJSON(w, http.StatusOK, a2a.Card(agent))
}

// a2aCaller is who sent a call. The ids of the tasks and conversations of a caller without
// credentials begin with prefix, which nobody can guess: they are all that it has to show.
type a2aCaller struct {
	knowledge.Principal
	prefix string
}

// call serves a call of a client of the A2A protocol.
func (ar *agentRoutes) call(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) {
	call, refused := a2a.ParseCall(edge.Body(r), r.Header.Get("A2A-Version"))
	caller, err := ar.a2aCaller(r, &call)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	var result any
	if refused == nil {
		result, err = ar.serveCall(w, r, caller, call)
		refused = asRPC(r.Context(), call, err)
	}
	switch {
	case refused != nil:
		edge.WriteJSON(w, http.StatusOK, a2a.Refuse(call.ID, refused))
	case result != nil: // else the answer was streamed
		edge.WriteJSON(w, http.StatusOK, a2a.Answer(call.ID, result))
	}
}

// a2aCaller returns who sent a call, and takes the prefix of a caller without credentials from
// the ids that it names.
func (ar *agentRoutes) a2aCaller(r *http.Request, call *a2a.Call) (a2aCaller, error) {
	pub, err := ar.visitors.agent(r)
	if err != nil {
		return a2aCaller{}, err
	}
	if pub.Visibility != knowledge.VisiblePublic || !edge.Credentials(r).None() {
		_, p, err := ar.visitors.visitor(r)
		return a2aCaller{Principal: p}, err
	}
	id := ""
	for _, named := range []*string{&call.Task, &call.Context} {
		if before, after, ok := strings.Cut(*named, "."); ok {
			id, *named = before, after
		}
	}
	if id == "" {
		id = access.NewVisitorID()
	}
	p := ar.visitors.access.AnonymousVisitor(pub, id)
	return a2aCaller{p, id + "."}, admit(r.Context(), pub, p)
}

// asRPC returns an error as a client of the protocol gets it.
func asRPC(ctx context.Context, call a2a.Call, err error) *a2a.Error {
	if err == nil {
		return nil
	}
	failure := knowledge.AsError(err)
	switch {
	case failure.Code == knowledge.CodeNotFound && call.Task != "":
		return &a2a.Error{Code: a2a.CodeTaskNotFound, Message: "there is no such task"}
	case failure.Code == knowledge.CodeConflict && call.Operation == a2a.Cancel:
		return &a2a.Error{Code: a2a.CodeNotCancelable, Message: failure.Message}
	case failure.Code == knowledge.CodeConflict && call.Operation == a2a.Subscribe:
		return &a2a.Error{Code: a2a.CodeUnsupported, Message: failure.Message}
	case failure.Code == knowledge.CodeInternal:
		edge.RequestLog(ctx).ErrorContext(ctx, "a call of the A2A protocol failed", "error", err)
		return &a2a.Error{Code: a2a.CodeInternal, Message: "the call failed; see the log of the server"}
	}
	return &a2a.Error{Code: a2a.CodeInvalidParams, Message: failure.Message}
}

// serveCall does what a call asks for. It returns no result if it has streamed the answer.
func (ar *agentRoutes) serveCall(w http.ResponseWriter, r *http.Request, caller a2aCaller, call a2a.Call) (any, error) {
	ctx := r.Context()
	var run store.Run
	var err error
	if call.Task == "" {
		key := knowledge.DerivedID("message of a2a", call.MessageID)
		run, err = ar.start(ctx, caller.Principal, "params.message.parts", call.Text, call.Context, idempotency.Request{
			Key: key, Route: r.URL.Path, Hash: idempotency.Hash([]byte(call.Context + "\n" + call.Text)),
		})
	} else {
		run, err = ar.own(ctx, caller.Principal, call.Task)
	}
	if err != nil {
		return nil, err
	}
	w.Header().Set(runHeader, run.ID)
	switch call.Operation {
	case a2a.Stream, a2a.Subscribe:
		return nil, ar.streamTask(w, r, caller, call, run)
	case a2a.Cancel:
		if _, err := ar.runs.cancelRun(ctx, caller.Principal, &RunPath{ID: run.ID}); err != nil {
			return nil, err
		}
	case a2a.Send:
		task := caller.task(run)
		if !call.AtOnce {
			err = ar.await(ctx, caller, run, &task)
		}
		return task.Sent(call.Version), err
	}
	return ar.taskNow(ctx, caller, run.ID, call.Version)
}

// task returns the task of a run that has not ended.
func (c a2aCaller) task(run store.Run) a2a.Task {
	return a2a.Task{ID: c.prefix + run.ID, Context: c.prefix + run.ConversationID, State: a2a.Working, At: run.CreatedAt}
}

// await waits until a run has ended.
func (ar *agentRoutes) await(ctx context.Context, caller a2aCaller, run store.Run, task *a2a.Task) error {
	name, data, err := ar.events.lastEvent(ctx, caller.Principal, run)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode the end of run %s: %w", run.ID, err)
	}
	return task.End(name, encoded, ar.visitors.now())
}

// taskNow returns a task as it is.
func (ar *agentRoutes) taskNow(ctx context.Context, caller a2aCaller, id string, v a2a.Version) (any, error) {
	run, err := ar.own(ctx, caller.Principal, id)
	if err != nil {
		return nil, err
	}
	task := caller.task(run)
	if run.Status == knowledge.RunRunning {
		return task.In(v), nil
	}
	if err := ar.await(ctx, caller, run, &task); err != nil {
		return nil, err
	}
	task.At = run.EndedAt
	return task.In(v), nil
}

// a2aStream is the eventSink of a stream of the protocol.
type a2aStream struct {
	writer     *sse.Writer
	translator *a2a.Translator
	call       json.RawMessage // its id
}

// Event implements eventSink.
func (s *a2aStream) Event(id int64, name string, data []byte) error {
	results, err := s.translator.Results(name, data)
	if err != nil {
		return fmt.Errorf("show event %d by the A2A protocol: %w", id, err)
	}
	var messages []sse.Message
	for _, result := range results {
		encoded, err := json.Marshal(a2a.Answer(s.call, result))
		if err != nil {
			return fmt.Errorf("encode event %d: %w", id, err)
		}
		messages = append(messages, sse.Message{Data: encoded})
	}
	if len(messages) == 0 {
		return nil
	}
	return s.writer.Messages(messages...)
}

// Alive implements eventSink.
func (s *a2aStream) Alive() error { return s.writer.Comment("still here") }

// streamTask streams a task from its beginning to its end.
func (ar *agentRoutes) streamTask(w http.ResponseWriter, r *http.Request, caller a2aCaller, call a2a.Call, run store.Run) error {
	if call.Operation == a2a.Subscribe && run.Status != knowledge.RunRunning {
		return knowledge.Errorf(knowledge.CodeConflict, "this task has ended: get it")
	}
	release, err := ar.events.streams.open()
	if err != nil {
		return err
	}
	defer release()
	in := &reading{run: run, principal: caller.Principal, compact: true}
	sink := &a2aStream{sse.NewWriter(w, sse.Options{RunID: run.ID, NoRetry: true}), a2a.NewTranslator(caller.task(run), call.Version, time.Now), call.ID}
	ar.events.logBreak(r.Context(), in, ar.events.sendEvents(r.Context(), in, sink))
	return nil
}
