package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/store"
)

// agentRoutes holds the routes by which visitors ask a published project: they ask, follow and
// rate their own questions, and open the passages that answers cite. Nothing else is open to
// them.
type agentRoutes struct {
	visitors      *visitors
	store         Store
	questions     *question.Starter
	events        *eventRoutes
	runs          *runRoutes
	conversations *conversationRoutes
	chunks        *chunkRoutes
}

// noLinks are the links of those who may not see operators' pages.
type noLinks struct{}

func (noLinks) OperatorURL(string) string { return "" }

// ExecutionURL implements Links.
func (noLinks) ExecutionURL(string, string) string { return "" }

func (noLinks) OperatorPage() string { return "" }

// newAgentRoutes returns the routes of visitors, who get no address of an operator's page.
func (p *parts) newAgentRoutes(cfg Config, deps Deps) *agentRoutes {
	deps.Links = noLinks{}
	results := newResults(cfg, deps)
	events, runs := *p.events, *p.runs
	events.results, runs.results, runs.views = results, results, results.views
	return &agentRoutes{
		visitors: &visitors{edge: p.edge, access: deps.Access, sealer: deps.Secrets, now: p.now},
		store:    deps.Store, questions: p.questions, events: &events, runs: &runs,
		conversations: &conversationRoutes{store: deps.Store, edge: p.edge, questions: p.questions, readers: p.readers, results: results, now: p.now},
		chunks:        &chunkRoutes{store: deps.Store, pages: p.pages},
	}
}

// agentDescription is what a page shows of an agent.
type agentDescription struct {
	Slug        string               `json:"slug"`
	Visibility  knowledge.Visibility `json:"visibility" enum:"public,workspace"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Starters    []string             `json:"starters" doc:"Questions to begin with"`
	Avatar      string               `json:"avatar" doc:"A short text; empty if there is none, or a picture"`
	HasPicture  bool                 `json:"has_picture" doc:"GET …/avatar has the picture"`
}

type agentOutput struct{ Body agentDescription }

type visitOutput struct {
	Body struct {
		Token     string `json:"token" doc:"Send it as Authorization: Bearer. Whoever has it is this visitor"`
		ExpiresIn int    `json:"expires_in" doc:"In seconds"`
	} `nameHint:"AgentVisit"`
}

type agentQuestionInput struct {
	Visit
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition of the request under the same key finds the run of the first one"`
	Body struct {
		Text           string `json:"text" doc:"The question"`
		ConversationID string `json:"conversation_id,omitempty" maxLength:"200" doc:"The conversation to continue. Default: a new one"`
	} `nameHint:"AgentQuestion"`
}

type agentQuestionOutput struct {
	RunID string `header:"Cairn-Run-Id"`
	Body  struct {
		RunID          string `json:"run_id" doc:"GET …/runs/{run_id}/events streams the answer"`
		MessageID      string `json:"message_id"`
		ConversationID string `json:"conversation_id"`
	} `nameHint:"AgentAccepted"`
}

func (ar *agentRoutes) mount(e *edge.Edge) {
	route := func(id, method, path, summary, description string, status int) edge.Route {
		rt := taggedWithStatus("agents")(id, method, "/agents/{slug}"+path, summary, description, status)
		rt.Public = true
		return rt
	}
	edge.Handle(e, route("get-agent", http.MethodGet, "", "What an agent is", "Browsers get its page.", 0), ar.describe)
	picture := route("get-agent-avatar", http.MethodGet, "/avatar", "The picture of an agent", "", 0)
	picture.Responses = map[string]*huma.Response{"200": {Description: "The picture", Content: map[string]*huma.MediaType{"image/png": {}, "image/jpeg": {}, "image/webp": {}}}}
	picture.Parameters = agentParameters()
	edge.HandleRaw(e, picture, ar.avatar)
	edge.Handle(e, route("visit-agent", http.MethodPost, "/visits", "Become an anonymous visitor of a public agent", "", http.StatusCreated), ar.visit)
	edge.Handle(e, route("ask-agent", http.MethodPost, "/questions", "Ask an agent", "", http.StatusAccepted), ofVisitor(ar.visitors, ar.ask))
	ar.mountReading(e, route)
	ar.mountSharing(e, route)
	ar.mountA2A(e, route)
}

// describe serves those who may ask the agent. A public one describes itself to everybody.
func (ar *agentRoutes) describe(_ context.Context, _ knowledge.Principal, in *Visit) (*agentOutput, error) {
	pub, err := ar.visitors.open(in.request)
	if err != nil {
		return nil, err
	}
	_, _, isPicture := pub.Picture()
	out := &agentOutput{agentDescription{Slug: pub.Slug, Visibility: pub.Visibility, Title: pub.Title, Description: pub.Description, Starters: notNil(pub.Starters), HasPicture: isPicture}}
	if !isPicture {
		out.Body.Avatar = pub.Avatar
	}
	return out, nil
}

func (ar *agentRoutes) avatar(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) {
	pub, err := ar.visitors.open(r)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	data, mediaType, ok := pub.Picture()
	if !ok {
		edge.WriteError(w, r, knowledge.Errorf(knowledge.CodeNotFound, "the agent %q has no picture", pub.Slug))
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "private, max-age=300")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(data) // a reader that has left is nobody to tell
}

// agentParameters describe the address of an agent, for routes whose requests huma does not read.
func agentParameters() []*huma.Param {
	return []*huma.Param{{Name: "slug", In: "path", Required: true, Description: "The agent", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(63)}}}
}

// visit returns the token of a new visitor for a browser.
func (ar *agentRoutes) visit(ctx context.Context, _ knowledge.Principal, in *Visit) (*visitOutput, error) {
	pub, err := ar.visitors.public(in.request)
	if err != nil {
		return nil, err
	}
	if err := quota.CountAgent(ctx, pub); err != nil {
		return nil, err
	}
	out := &visitOutput{}
	out.Body.Token = ar.visitors.access.SignVisitor(pub, access.NewVisitorID(), ar.visitors.now().Add(access.VisitorLife))
	out.Body.ExpiresIn = int(access.VisitorLife.Seconds())
	return out, nil
}

// ask starts the run of a visitor's question. A visitor chooses nothing but its words.
func (ar *agentRoutes) ask(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *agentQuestionInput) (*agentQuestionOutput, error) {
	body := []byte(in.Body.ConversationID + "\n" + in.Body.Text)
	run, err := ar.start(ctx, p, "body.text", in.Body.Text, in.Body.ConversationID, idempotency.Request{Key: in.Key, Route: in.request.URL.Path, Hash: idempotency.Hash(body)})
	if err != nil {
		return nil, err
	}
	out := &agentQuestionOutput{RunID: run.ID}
	out.Body.RunID, out.Body.MessageID, out.Body.ConversationID = run.ID, question.MessageID(run.ID), run.ConversationID
	return out, nil
}

// start starts the run of a question to the project that the principal is held to.
func (ar *agentRoutes) start(ctx context.Context, p knowledge.Principal, field, text, conversation string, repeated idempotency.Request) (store.Run, error) {
	if conversation != "" {
		if _, err := ar.store.Conversation(ctx, p, conversation); err != nil {
			return store.Run{}, fmt.Errorf("read conversation %s: %w", conversation, err)
		}
	}
	started, err := ar.questions.Start(ctx, p, question.Request{
		Kind: knowledge.KindQuery, TextField: field, Text: text, Project: p.Project(), Converse: true, Conversation: conversation, Idempotency: repeated,
	})
	if err != nil {
		return store.Run{}, err
	}
	started.Release()
	return started.Run, nil
}
