package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Preferences is what a user chooses.
type Preferences struct {
	RAG ragPreferences `json:"rag"`
}

type ragPreferences struct {
	Model    *string  `json:"model" maxLength:"200" required:"false" doc:"The chat model for the user's questions, unless a question names another; null: the model of the project"`
	Reranker *string  `json:"reranker" maxLength:"200" required:"false" doc:"The reranker: judge (the chat model), the name of models.rerank, or none; null: the reranker of the project"`
	Tags     []string `json:"tags,omitempty" maxItems:"64" doc:"If ai.selfQuery is user and a question has no tags, only documents with one of these tags are searched"`
}

type preferencesOutput struct{ Body Preferences }

// preferenceRoutes holds the routes of what users prefer.
type preferenceRoutes struct {
	edge  *edge.Edge
	store Tenants
	has   knowledge.InstanceFeatures
}

func (pr *preferenceRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-preferences", Method: http.MethodGet, Path: "/preferences", Summary: "Read the caller's preferences", Tags: []string{"preferences"},
	}}, pr.getPreferences)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "put-preferences", Method: http.MethodPut, Path: "/preferences", Summary: "Replace the caller's preferences", Tags: []string{"preferences"},
	}}, pr.putPreferences)
}

func (pr *preferenceRoutes) getPreferences(ctx context.Context, p knowledge.Principal, _ *struct{ edge.ActingQuery }) (*preferencesOutput, error) {
	preferred, err := pr.preferences(ctx, p)
	if err != nil {
		return nil, err
	}
	return &preferencesOutput{preferred}, nil
}

func (pr *preferenceRoutes) preferences(ctx context.Context, p knowledge.Principal) (Preferences, error) {
	var preferred Preferences
	stored, err := pr.store.Preferences(ctx, p)
	if err != nil {
		return preferred, fmt.Errorf("read preferences: %w", err)
	}
	if err := json.Unmarshal(stored, &preferred); err != nil {
		return preferred, fmt.Errorf("decode preferences: %w", err)
	}
	return preferred, nil
}

func (pr *preferenceRoutes) putPreferences(ctx context.Context, p knowledge.Principal, in *struct {
	edge.ActingQuery
	Body struct {
		Preferences
		edge.ActingBody
	} `nameHint:"NewPreferences"`
}) (*preferencesOutput, error) {
	p, err := pr.edge.ActFor(ctx, p, in.Body.ActingBody)
	if err != nil {
		return nil, err
	}
	if wrong := knowledge.TagFields("body.rag.tags", in.Body.RAG.Tags); len(wrong) > 0 {
		return nil, knowledge.InvalidFields(wrong)
	}
	if model := in.Body.RAG.Model; model != nil {
		if wrong := knowledge.UnknownModel("body.rag.model", *model, pr.has.ChatModels); len(wrong) > 0 {
			return nil, knowledge.InvalidFields(wrong)
		}
	}
	if reranker := in.Body.RAG.Reranker; reranker != nil {
		chosen := knowledge.RetrievalConfig{Reranker: *reranker}
		if wrong := chosen.RerankerFields("body.rag.reranker", pr.has.Reranker); len(wrong) > 0 {
			return nil, knowledge.InvalidFields(wrong)
		}
	}
	encoded, err := json.Marshal(in.Body.Preferences)
	if err != nil {
		return nil, fmt.Errorf("encode preferences: %w", err)
	}
	if err := pr.store.SetPreferences(ctx, p, encoded); err != nil {
		return nil, fmt.Errorf("store preferences: %w", err)
	}
	return &preferencesOutput{in.Body.Preferences}, nil
}
