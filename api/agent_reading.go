package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// AgentRun names a run of a visitor.
type AgentRun struct {
	Visit
	Run string `path:"run_id" maxLength:"200"`
}

// AgentConversation names a conversation of a visitor.
type AgentConversation struct {
	Visit
	Conversation string `path:"conversation" maxLength:"200"`
}

// openQuestion is a question whose answer is not complete.
type openQuestion struct {
	RunID string `json:"run_id"`
	Text  string `json:"text"`
}

type agentConversationOutput struct {
	Body struct {
		ID       string         `json:"id"`
		Title    string         `json:"title"`
		Messages []messageView  `json:"messages" doc:"Oldest first; the first 500"`
		Running  []openQuestion `json:"running" doc:"The questions that are being answered, oldest first"`
	} `nameHint:"AgentConversationView"`
}

func (ar *agentRoutes) mountReading(e *edge.Edge, route func(id, method, path, summary, description string, status int) edge.Route) {
	events := route("agent-run-events", http.MethodGet, "/runs/{run_id}/events", "Replay and follow the events of a question to an agent", "As GET /runs/{run_id}/events.", 0)
	events.Responses = map[string]*huma.Response{
		"200": {Description: "The run's events (docs/events.md)", Content: map[string]*huma.MediaType{"text/event-stream": eventStream(e.OpenAPI().Components.Schemas, questionEvents)}},
		"204": {Description: "The run has ended and there are no more events"},
	}
	edge.Handle(e, events, func(context.Context, knowledge.Principal, *struct {
		AgentRun
		Last    string `header:"Last-Event-ID" doc:"Send the events after this id; 0 = all"`
		After   string `query:"after" doc:"The same as Last-Event-ID"`
		Delta   string `query:"delta" enum:"on,off" doc:"off: send large events in one piece"`
		Compact bool   `query:"compact" doc:"Omit concatenated from apiMessageChunk"`
	}) (*huma.StreamResponse, error) {
		return rawResponse(ar.follow), nil
	})
	edge.Handle(e, route("cancel-agent-run", http.MethodPost, "/runs/{run_id}/cancel", "Cancel a question to an agent", "", http.StatusAccepted), ofVisitor(ar.visitors, ar.cancel))
	edge.Handle(e, route("rate-agent-answer", http.MethodPost, "/runs/{run_id}/feedback", "Rate an answer of an agent", "A later rating replaces the earlier one.", http.StatusOK), ofVisitor(ar.visitors, ar.rate))
	edge.Handle(e, route("list-agent-conversations", http.MethodGet, "/conversations", "List the visitor's conversations with an agent", "", 0), ofVisitor(ar.visitors, ar.list))
	edge.Handle(e, route("get-agent-conversation", http.MethodGet, "/conversations/{conversation}", "Read a conversation with an agent", "", 0), ofVisitor(ar.visitors, ar.read))
	edge.Handle(e, route("delete-agent-conversation", http.MethodDelete, "/conversations/{conversation}", "Delete a conversation with an agent", "", 0), ofVisitor(ar.visitors,
		func(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *AgentConversation) (*struct{}, error) {
			return nil, ar.store.DeleteConversation(ctx, p, in.Conversation)
		}))
	edge.Handle(e, route("get-agent-chunk", http.MethodGet, "/chunks/{chunk_id}", "Read a passage that an answer of an agent cites", "", 0), ofVisitor(ar.visitors,
		func(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *struct {
			Visit
			ChunkQuery
		}) (*chunkAnswer, error) {
			return ar.chunks.passage(ctx, p, in.ChunkQuery)
		}))
}

// own returns a run of the principal itself.
func (ar *agentRoutes) own(ctx context.Context, p knowledge.Principal, id string) (store.Run, error) {
	run, err := ar.store.Run(ctx, p, id)
	if err == nil && run.Owner != p.Owner() {
		err = knowledge.NotFound("run", id)
	}
	if err != nil {
		return run, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// follow serves the events of a visitor's question.
func (ar *agentRoutes) follow(w http.ResponseWriter, r *http.Request) {
	in, err := ar.readingOf(r)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	if in, release := ar.events.openReading(w, r, in); in != nil {
		defer release()
		ar.events.serveEvents(w, r, in)
	}
}

func (ar *agentRoutes) readingOf(r *http.Request) (*reading, error) {
	after, _, err := lastEventID(r)
	if err != nil {
		return nil, err
	}
	_, p, err := ar.visitors.visitor(r)
	if err != nil {
		return nil, err
	}
	run, err := ar.own(r.Context(), p, r.PathValue("run_id"))
	if err != nil {
		return nil, err
	}
	return &reading{run: run, principal: p, after: after, compact: edge.IsSet(r, "compact")}, nil
}

func (ar *agentRoutes) cancel(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *AgentRun) (*struct{}, error) {
	if _, err := ar.own(ctx, p, in.Run); err != nil {
		return nil, err
	}
	_, err := ar.runs.cancelRun(ctx, p, &RunPath{ID: in.Run})
	return nil, err
}

func (ar *agentRoutes) rate(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *struct {
	AgentRun
	Body feedbackBody
}) (*feedbackOutput, error) {
	if _, err := ar.own(ctx, p, in.Run); err != nil {
		return nil, err
	}
	return ar.runs.rate(ctx, p, in.Run, in.Body)
}

func (ar *agentRoutes) list(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *struct {
	Visit
	PageQuery
}) (*listOutput[ConversationView], error) {
	conversations, next, err := ar.store.Conversations(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	return page(convert(conversations, viewConversation), next), nil
}

func (ar *agentRoutes) read(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *AgentConversation) (*agentConversationOutput, error) {
	out := &agentConversationOutput{}
	runs, _, err := ar.store.Runs(ctx, p, store.RunQuery{Conversation: in.Conversation, Status: knowledge.RunRunning, Page: store.Page{Limit: 10}})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	c, messages, err := ar.messages(ctx, p, in.Conversation)
	if err != nil {
		return nil, err
	}
	out.Body.ID, out.Body.Title, out.Body.Messages, out.Body.Running = c.ID, c.Title, messages, []openQuestion{}
	for i := len(runs) - 1; i >= 0; i-- { // oldest first
		if runs[i].Owner != p.Owner() {
			continue
		}
		text, err := ar.runs.question(ctx, runs[i])
		if err != nil {
			return nil, err
		}
		audit.Ran(ctx, runs[i].ID)
		out.Body.Running = append(out.Body.Running, openQuestion{runs[i].ID, text})
	}
	return out, nil
}

// messages returns a conversation of the principal with its messages.
func (ar *agentRoutes) messages(ctx context.Context, p knowledge.Principal, id string) (ConversationView, []messageView, error) {
	found, err := ar.conversations.getConversation(ctx, p, &conversationInput{ConversationPath: ConversationPath{ID: id}, PageQuery: PageQuery{Limit: 500}})
	if err != nil {
		return ConversationView{}, nil, err
	}
	return found.Body.ConversationView, found.Body.Messages, nil
}
