package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/advice"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// documentSummary counts documents without listing them.
type documentSummary struct {
	ByStatus map[knowledge.Status]int `json:"by_status" doc:"Documents by status; a status without documents is absent"`
	ByCode   []failedDocuments        `json:"by_code" doc:"Failed documents by the code of their failure, the most first"`
	Waiting  []waitingDocuments       `json:"waiting" doc:"Pending documents that nothing works on, by cause, the most first. With the write scope the objects that wait in imports are counted too"`
}

type failedDocuments struct {
	Code         knowledge.Code `json:"code"`
	Count        int            `json:"count" doc:"Documents whose failure is not acknowledged"`
	Acknowledged int            `json:"acknowledged" doc:"Documents whose failure is acknowledged"`
	ExampleID    string         `json:"example_id,omitempty" doc:"One of the documents of count, if there is one"`
	Message      string         `json:"message,omitempty" doc:"Why the example failed"`
	Repair       string         `json:"repair,omitempty" doc:"What has to be done first about the example"`
	Action       string         `json:"action,omitempty" enum:"retry,reingest,acknowledge" doc:"What can be done with all of them after that: acknowledge if only another file, or a change at its source, helps"`
}

type waitingDocuments struct {
	Code    knowledge.Code `json:"code,omitempty" doc:"The code of the failure after which they wait; absent if nothing was heard of them for an hour"`
	Message string         `json:"message"`
	Count   int            `json:"count"`
	Since   time.Time      `json:"since" doc:"When the first of them began to wait"`
}

// documentSummaryRoutes holds the route that counts documents.
type documentSummaryRoutes struct {
	store Documents
	now   func() time.Time
}

func (dsr *documentSummaryRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-document-summary", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/summary", Summary: "Count documents by status and cause", Tags: []string{"documents"},
		Description: "Counts the documents that list-documents lists.",
	}}, dsr.getSummary)
}

func (dsr *documentSummaryRoutes) getSummary(ctx context.Context, p knowledge.Principal, _ *struct {
	WorkspacePath
	edge.ActingQuery
}) (*struct{ Body documentSummary }, error) {
	found, err := dsr.store.DocumentSummary(ctx, p, dsr.now().Add(-advice.StillWorking))
	if err != nil {
		return nil, fmt.Errorf("summarize documents: %w", err)
	}
	return &struct{ Body documentSummary }{documentSummary{
		ByStatus: found.ByStatus, ByCode: convert(found.Failed, viewFailed), Waiting: convert(found.Waiting, viewWaiting),
	}}, nil
}

func viewFailed(f store.FailedDocuments) failedDocuments {
	shown := failedDocuments{Code: f.Code, Count: f.Count, Acknowledged: f.Acknowledged, ExampleID: f.Example, Message: f.Error.Message}
	if f.Example == "" {
		return shown
	}
	shown.Action = "acknowledge"
	if advice.OfAddress(f.Error, f.ExternalID) {
		shown.Repair = strings.TrimSuffix(advice.AfterRepair, ": ") + ", read its address again"
		return shown
	}
	a := advice.OnFailure(f.Error)
	shown.Repair = strings.TrimSuffix(strings.TrimSuffix(a.Repair, ", then: "), ": ")
	shown.Action = cmp.Or(a.Action, shown.Action)
	return shown
}

func viewWaiting(w store.WaitingDocuments) waitingDocuments {
	return waitingDocuments{Code: w.Code, Message: cmp.Or(w.Message, advice.Unchanged), Count: w.Count, Since: w.Since.UTC()}
}
