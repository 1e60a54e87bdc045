package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// retrieveBody is the body of POST /retrieve-context.
type retrieveBody struct {
	Text           string           `json:"text" doc:"The question"`
	ProjectID      string           `json:"projectId,omitempty" maxLength:"200" doc:"Default: every project that the key covers"`
	Filters        knowledge.Filter `json:"filters,omitempty"`
	NumberOfChunks int              `json:"numberOfChunks,omitempty" minimum:"1" maximum:"100" doc:"Default: the setting of the project"`
	edge.ActingBody

	Override changeOf[knowledge.ProjectConfig] `json:"projectConfigOverride,omitempty" doc:"Settings of the project to override for this search, as in POST /query"`
}

// retrievedContext is what was found, for a prompt and one by one.
type retrievedContext struct {
	Context string           `json:"context" doc:"The passages in the form in which a model gets them"`
	Chunks  []retrievedChunk `json:"chunks" doc:"Best first"`

	Choices *retrieve.Choices `json:"choices,omitempty" doc:"Settings that the search chose automatically (docs/retrieval.md)"`
	Dropped *[]droppedChunk   `json:"dropped,omitempty" doc:"With ?explain=true: candidates that are not among the chunks, as far as the caller may see them"`
}

type retrievedChunk struct {
	ID           string         `json:"id"`
	DocumentID   string         `json:"documentId"`
	DocumentName string         `json:"documentName"`
	Content      string         `json:"content"`
	Score        float64        `json:"score"`
	PageNumber   *int           `json:"pageNumber"`
	BBox         []chunkBox     `json:"bbox"`
	Metadata     map[string]any `json:"metadata"`
	Tags         []string       `json:"tags"`

	URL     string       `json:"url,omitempty" doc:"The URL of a web page (ai.retrieval.web), which has neither id nor documentId"`
	Explain *explanation `json:"explain,omitempty" doc:"With ?explain=true"`
}

type retrieveOutput struct{ Body retrievedContext }

// retrieveRoutes holds the route that finds passages.
type retrieveRoutes struct {
	edge      *edge.Edge
	store     Store
	retriever Retriever
	questions *question.Starter
}

func (rr *retrieveRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Anew: true, Operation: huma.Operation{
		OperationID: "retrieve-context", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/webhooks/retrieve-context",
		Summary: "Find passages without an answer", Description: "Nothing is stored and no run is started. A repetition with the same Idempotency-Key searches again.", Tags: []string{"questions"},
	}}, rr.retrieveContext)
}

func (rr *retrieveRoutes) retrieveContext(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Explain bool `query:"explain" doc:"Explain how each chunk was ranked, and which candidates were dropped and why"`
	Body    retrieveBody
}) (*retrieveOutput, error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	audit.Asked(ctx, b.Text)
	p, err := rr.edge.ActFor(ctx, p, b.ActingBody)
	if err != nil {
		return nil, err
	}
	project, err := rr.questions.Project(ctx, p, b.ProjectID)
	if err != nil {
		return nil, err
	}
	setup, err := rr.questions.Setup(ctx, p, project, question.Request{Filter: b.Filters, Override: json.RawMessage(b.Override)})
	if err != nil {
		return nil, err
	}
	config := setup.Config
	if b.NumberOfChunks > 0 {
		config.AI.Retrieval.NumberOfChunks = b.NumberOfChunks
		config = config.WithDefaults()
	}
	request := retrieve.Request{
		Principal: p, Query: b.Text, Projects: setup.Projects, Filter: setup.Filter, Scope: setup.Scope, Config: config.AI.Retrieval, Model: config.AI.Model, Failover: config.AI.Failover,
		Enhance: config.AI.Enhances(false), SelfQuery: config.AI.SelfQuery == knowledge.SelfQueryEnabled, Explain: in.Explain, Web: config.WebSource(), Privacy: config.Privacy,
	}
	if session := p.ConversationID(); session != "" && config.AI.Enhances(true) {
		if request.History, err = rr.questions.History(ctx, p, session, config.AI.History); err != nil {
			return nil, err
		}
		request.Enhance = config.AI.Enhances(knowledge.FollowsUp(request.History))
	}
	if err := rr.allowWeb(ctx, p, project, request); err != nil {
		return nil, err
	}
	if err := quota.CheckDay(ctx, p, project.ID); err != nil {
		return nil, err
	}
	result, err := rr.retriever.Retrieve(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("retrieve: %w", err)
	}
	if result.Usage.Tokens() > 0 {
		if err := quota.Charge(ctx, p, project.ID, result.Usage); err != nil {
			return nil, fmt.Errorf("retrieve: %w", err)
		}
	}
	for _, cause := range result.Causes {
		edge.RequestLog(ctx).WarnContext(ctx, "a stage of a search failed and was left out", "failures", result.Choices.Failures, "error", cause)
	}
	passages, err := retrieve.Passages(ctx, rr.store, p, result.Contexts)
	if err != nil {
		return nil, fmt.Errorf("retrieve: %w", err)
	}
	passages = retrieve.PromptOrder(passages, result.Contexts, config.AI.Retrieval.Order)
	out := viewContexts(result, passages)
	out.noteDocuments(ctx)
	return &retrieveOutput{out}, nil
}

// allowWeb counts a search that asks the web as a question, because the search engine may
// charge for it.
func (rr *retrieveRoutes) allowWeb(ctx context.Context, p knowledge.Principal, project knowledge.Project, r retrieve.Request) error {
	if !r.SearchesWeb() {
		return nil
	}
	_, err := rr.questions.Allow(ctx, p, project)
	return err
}

func (b retrieveBody) check() error {
	if err := question.CheckText("body.text", b.Text); err != nil {
		return err
	}
	return knowledge.InvalidFields(b.Filters.Fields("body.filters"))
}

// noteDocuments notes the documents whose text leaves with the answer.
func (c retrievedContext) noteDocuments(ctx context.Context) {
	for _, chunk := range c.Chunks {
		audit.Left(ctx, chunk.DocumentID)
	}
}

// viewContexts returns what was found, with the passages that a model is given of it.
func viewContexts(found retrieve.Result, passages []citation.Context) retrievedContext {
	out := retrievedContext{Chunks: make([]retrievedChunk, 0, len(found.Contexts))}
	for _, c := range found.Contexts {
		view := retrievedChunk{
			ID: c.ID, DocumentID: c.DocumentID, DocumentName: c.Document.Name, Content: c.Text, Score: c.Score,
			Metadata: c.Document.Metadata, Tags: notNil(c.Document.Tags),
		}
		if view.Metadata == nil {
			view.Metadata = map[string]any{}
		}
		view.BBox, view.PageNumber = chunkBoxes(c.Chunk)
		if c.Page != nil {
			view.ID, view.URL = "", c.Page.URL
		}
		if view.Explain = explain(found.Trace, c.ID); view.Explain != nil {
			view.Explain.Source = c.Source()
		}
		out.Chunks = append(out.Chunks, view)
	}
	if len(passages) > 0 {
		out.Context = prompt.Sources(passages)
	}
	if !found.Choices.IsZero() {
		out.Choices = &found.Choices
	}
	out.Dropped = viewDropped(found.Trace)
	return out
}
