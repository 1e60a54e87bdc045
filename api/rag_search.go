package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// ragSearchBody is the body of POST /tools/rag_search.
type ragSearchBody struct {
	Query       string   `json:"query" doc:"The question or search query"`
	DocumentIDs []string `json:"document_ids,omitempty" maxItems:"1000" doc:"Only these documents"`
	SessionID   string   `json:"session_id,omitempty" doc:"The id of a conversation; its attachments are searched too. With ai.enhanceQuery the question may refer to its messages"`
	edge.PersonFields
	ProjectID string           `json:"project_id,omitempty" doc:"Default: every project that the key covers"`
	Stream    bool             `json:"stream,omitempty" doc:"Respond with server-sent events"`
	Filters   knowledge.Filter `json:"filters,omitempty"`
}

type ragSearchInput struct {
	Delta   string `query:"delta" enum:"on,off" doc:"off: send large events in one piece"`
	Profile string `query:"profile" enum:"ag-ui" doc:"ag-ui: stream AG-UI events, like the header Accept: text/event-stream; profile=ag-ui"`
	Body    ragSearchBody
}

// toolPrincipal returns the principal of a call of a tool, for the person and in the
// conversation that its body names.
func (q *questionRoutes) toolPrincipal(r *http.Request, person edge.PersonFields, session string) (knowledge.Principal, error) {
	acting, err := person.Acting()
	if err != nil {
		return knowledge.Principal{}, err
	}
	acting.Session = session
	return q.edge.Principal(r, "", acting)
}

// ragSearch serves POST /tools/rag_search.
func (q *questionRoutes) ragSearch(_ context.Context, _ knowledge.Principal, in *ragSearchInput) (*huma.StreamResponse, error) {
	return rawResponse(func(w http.ResponseWriter, r *http.Request) {
		b := in.Body
		p, err := q.toolPrincipal(r, b.PersonFields, b.SessionID)
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
