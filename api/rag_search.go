package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// ragSearchBody is the body of POST /tools/rag_search.
type ragSearchBody struct {
	Query          string           `json:"query" doc:"The question or search query"`
	DocumentIDs    []string         `json:"document_ids,omitempty" maxItems:"1000" doc:"Only these documents"`
	SessionID      string           `json:"session_id,omitempty" doc:"The id of a conversation; its attachments are searched too. With ai.enhanceQuery the question may refer to its messages"`
	ExternalUserID string           `json:"external_user_id,omitempty"`
	UserID         string           `json:"userId,omitempty" doc:"A person of the workspace for whom an API key acts"`
	ProjectID      string           `json:"project_id,omitempty" doc:"Default: every project that the key covers"`
	Stream         bool             `json:"stream,omitempty" doc:"Respond with server-sent events"`
	Filters        knowledge.Filter `json:"filters,omitempty"`
}

type ragSearchInput struct {
	Delta   string `query:"delta" enum:"on,off" doc:"off: send large events in one piece"`
	Profile string `query:"profile" enum:"ag-ui" doc:"ag-ui: stream AG-UI events, like the header Accept: text/event-stream; profile=ag-ui"`
	Body    ragSearchBody
}

// ragSearch serves POST /tools/rag_search.
func (q *questionRoutes) ragSearch(_ context.Context, _ knowledge.Principal, in *ragSearchInput) (*huma.StreamResponse, error) {
	return rawResponse(func(w http.ResponseWriter, r *http.Request) {
		b := in.Body
		acting := access.Acting{User: b.UserID, ExternalUser: b.ExternalUserID, Session: b.SessionID}
		p, err := q.edge.Principal(r, "", acting)
		if err != nil {
			edge.WriteError(w, r, err)
			return
		}
		q.startRun(w, r, p, answerRequest{
			body: b, stream: b.Stream, terminal: "tool_end",
			question: question.Request{
				Kind: knowledge.KindTool, TextField: "body.query", Text: b.Query, Project: b.ProjectID, Documents: b.DocumentIDs, Filter: b.Filters,
			},
		})
	}), nil
}
