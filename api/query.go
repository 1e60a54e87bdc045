package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// queryBody is the body of POST /query.
type queryBody struct {
	Text      string `json:"text" doc:"The question"`
	ProjectID string `json:"projectId,omitempty" doc:"Default: every project that the key covers"`
	SSE       bool   `json:"sse,omitempty" doc:"Respond with server-sent events"`
	Stream    bool   `json:"stream,omitempty" doc:"Without sse: respond with 202 and the URL of a WebSocket that sends the run's events"`
	edge.PersonFields
	ConversationID string                            `json:"conversationId,omitempty" doc:"The conversation to continue. Default: a new one"`
	SessionID      string                            `json:"session_id,omitempty" doc:"The same as conversationId"`
	Filters        knowledge.Filter                  `json:"filters,omitempty"`
	Tags           []string                          `json:"tags,omitempty" maxItems:"64" doc:"Only documents with one of these tags"`
	DocumentIDs    []string                          `json:"document_ids,omitempty" maxItems:"1000" doc:"Only these documents"`
	ToolChoice     string                            `json:"toolChoice,omitempty" enum:"auto,none,required"`
	Override       changeOf[knowledge.ProjectConfig] `json:"projectConfigOverride,omitempty" doc:"Settings of the project to override for this question; null resets a setting to its default. limits and ai.embeddings cannot be overridden"`

	Callback *callbackBody `json:"callback,omitempty" doc:"Respond with 202 at once, and send the answer to this URL when the run has ended, signed with the project's callbackSecret"`

	Metadata       any `json:"metadata,omitempty" doc:"Passed to the queries webhook unchanged"`
	WebhookPayload any `json:"webhookPayload,omitempty" doc:"Passed to the queries webhook unchanged"`
	Interface      any `json:"interface,omitempty" doc:"Passed to the queries webhook unchanged"`

	Attachments []attachmentBody `json:"attachments,omitempty" maxItems:"10" doc:"Files for the question. They become documents that only the conversation can read; the question waits for their ingestion, at most ten minutes. New files need the scope write. The JSON body may have 1 MB: send larger files in the field files of a multipart/form-data body, or upload them to the conversation and give their ids"`

	DeepResearch bool `json:"deepResearch,omitempty" doc:"Research the question in many searches and answer with a report; takes minutes (docs/research.md)"`
}

// conversation returns the conversation to continue, which has two names.
func (b queryBody) conversation() (string, error) {
	if b.SessionID != "" && b.ConversationID != "" && b.SessionID != b.ConversationID {
		return "", knowledge.Invalid("body.session_id", "must be the same as conversationId where both are given")
	}
	return cmp.Or(b.ConversationID, b.SessionID), nil
}

// webhookData returns what the body has for the queries webhook.
func (b queryBody) webhookData() (p knowledge.Passed, err error) {
	for _, f := range []struct {
		value any
		to    *json.RawMessage
	}{{b.Metadata, &p.Metadata}, {b.WebhookPayload, &p.WebhookPayload}, {b.Interface, &p.Interface}} {
		if f.value == nil {
			continue
		}
		if *f.to, err = json.Marshal(f.value); err != nil {
			return p, fmt.Errorf("encode what is for the webhook: %w", err)
		}
	}
	return p, nil
}

type queryInput struct {
	Workspace string `path:"workspaceId"`
	Compact   bool   `query:"compact" doc:"Omit concatenated from apiMessageChunk"`
	Delta     string `query:"delta" enum:"on,off" doc:"off: send large events in one piece"`
	Profile   string `query:"profile" enum:"ag-ui" doc:"ag-ui: stream AG-UI events, like the header Accept: text/event-stream; profile=ag-ui"`
	Body      queryBody
}

// questionRoutes holds the routes that answer questions.
type questionRoutes struct {
	edge      *edge.Edge
	questions *question.Starter
	events    *eventRoutes
	forms     *fileForms
	readers   *runReaders
	views     *views
	addresses Addresses
	sealer    intake.Secrets
	tools     []string // that the instance has
	fileBytes int64
}

// postQuery serves POST /query: it waits for the answer, or streams it.
func (q *questionRoutes) postQuery(_ context.Context, _ knowledge.Principal, in *queryInput) (*huma.StreamResponse, error) {
	return rawResponse(func(w http.ResponseWriter, r *http.Request) { q.serveQuery(w, r, in.Workspace, in.Body, nil) }), nil
}

// serveQuery asks a question and answers as its body wants. form has the files that came
// with it; nil = it came as JSON.
func (q *questionRoutes) serveQuery(w http.ResponseWriter, r *http.Request, workspace string, b queryBody, form *questionForm) {
	session, err := b.conversation()
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	acting, err := b.Acting()
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	acting.Session = session
	p, err := q.edge.Principal(r, workspace, acting)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	query, err := q.newQuery(p, b, session)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	if form != nil {
		query.question.Attachments = append(query.question.Attachments, form.attachments()...)
		query.afterStart = form.disk.remove // the answer may take an hour
		query.body = struct {
			queryBody
			Files []formFile
		}{b, form.files}
	}
	q.startRun(w, r, p, query)
}

// newQuery returns what the body of a question asks for.
func (q *questionRoutes) newQuery(p knowledge.Principal, b queryBody, session string) (answerRequest, error) {
	attached, err := b.attachments()
	if err != nil {
		return answerRequest{}, err
	}
	callback, err := q.callback(p, b.Callback)
	if err != nil {
		return answerRequest{}, err
	}
	passed, err := b.webhookData()
	if err != nil {
		return answerRequest{}, err
	}
	kind := knowledge.KindQuery
	if b.DeepResearch {
		kind = knowledge.KindResearch
	}
	return answerRequest{
		body: b, stream: b.SSE, socket: b.Stream && !b.SSE, later: callback != nil, terminal: "completedMessage",
		question: question.Request{
			Kind: kind, TextField: "body.text", Text: b.Text, Project: b.ProjectID, Documents: b.DocumentIDs, Filter: b.Filters,
			Tags: b.Tags, ToolChoice: b.ToolChoice, Override: json.RawMessage(b.Override), Converse: true, Conversation: session,
			Callback: callback, Passed: passed, Attachments: attached,
		},
	}, nil
}

// answerRequest is a request for an answer, however it is to be sent.
type answerRequest struct {
	question   question.Request
	body       any    // for comparing repeated requests
	stream     bool   // answer with server-sent events
	socket     bool   // answer with the address of a WebSocket
	later      bool   // a callback gets the answer
	terminal   string // name of the event whose data is the answer
	afterStart func() // is called when the run has started, or could not be; nil = nothing is to be done
}

// acceptedQuestion is the answer to a question whose events come by another way.
type acceptedQuestion struct {
	RunID        string `json:"runId"`
	MessageID    string `json:"messageId"`
	WebSocketURL string `json:"webSocketUrl,omitempty" doc:"The URL of a WebSocket with the run's events; needs no key for an hour"`
}

// startRun starts the run, or finds the one that the same request started before,
// and answers with its outcome: as a stream, or once the run has ended.
func (q *questionRoutes) startRun(w http.ResponseWriter, r *http.Request, p knowledge.Principal, a answerRequest) {
	a.stream = a.stream || wantsAGUI(r)
	if a.stream { // before anything that costs is started
		release, err := q.events.streams.open()
		if err != nil {
			edge.WriteError(w, r, err)
			return
		}
		defer release()
	}
	body, err := json.Marshal(a.body)
	if err != nil {
		edge.WriteError(w, r, fmt.Errorf("encode request: %w", err))
		return
	}
	a.question.Idempotency = idempotency.Request{Key: r.Header.Get(edge.IdempotencyHeader), Route: r.URL.Path, Hash: idempotency.Hash(body)}
	started, err := q.questions.Start(r.Context(), p, a.question)
	if a.afterStart != nil {
		a.afterStart()
	}
	writeAllowance(w, started.Allowance)
	if started.Repeated {
		w.Header().Set(edge.ReplayedHeader, "true")
	}
	if started.Run.ID != "" {
		w.Header().Set(runHeader, started.Run.ID)
	}
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	defer started.Release()
	if len(a.question.Attachments) > 0 { // which only the conversation sees
		if p, err = q.readers.inConversation(r.Context(), p, started.Run.ConversationID); err != nil {
			edge.WriteError(w, r, err)
			return
		}
	}
	w.Header().Set(eventsHeader, q.views.eventsURL(p, started.Run.ID))
	switch {
	case a.stream:
		q.events.serveEvents(w, r, &reading{run: started.Run, principal: p, compact: edge.IsSet(r, "compact")})
		return
	case a.socket:
		edge.WriteJSON(w, http.StatusAccepted, acceptedQuestion{
			RunID: started.Run.ID, MessageID: question.MessageID(started.Run.ID), WebSocketURL: q.views.webSocketURL(r, p, started.Run),
		})
		return
	case a.later:
		edge.WriteJSON(w, http.StatusAccepted, acceptedQuestion{RunID: started.Run.ID, MessageID: question.MessageID(started.Run.ID)})
		return
	}
	q.events.serveAnswer(w, r, p, started.Run, a.terminal)
}

// writeAllowance sends what the caller's limit of questions still allows, if it has one
// (draft-ietf-httpapi-ratelimit-headers).
func writeAllowance(w http.ResponseWriter, a question.Allowance) {
	if a.Limit == 0 {
		return
	}
	for name, n := range map[string]int{"RateLimit-Limit": a.Limit, "RateLimit-Remaining": a.Remaining, "RateLimit-Reset": int(math.Ceil(a.Reset.Seconds()))} {
		w.Header().Set(name, strconv.Itoa(n))
	}
}

// rawResponse returns an output with which the handler of a public route writes the response
// itself, after huma has checked its input and returned.
func rawResponse(handler http.HandlerFunc) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		edge.Later(w, r, handler)
	}}
}

// mount adds the routes that answer questions and follow runs. Their
// handlers authenticate themselves: the body names the user, or a link stands in
// for a key.
func (q *questionRoutes) mount(e *edge.Edge) {
	registry := e.OpenAPI().Components.Schemas
	answered := func(answer *huma.Schema, events map[string][]reflect.Type) map[string]*huma.Response {
		return map[string]*huma.Response{"200": {
			Description: "The answer or, if server-sent events are requested, a stream of the run's events (docs/events.md)",
			Content: map[string]*huma.MediaType{
				"application/json":  {Schema: answer},
				"text/event-stream": eventStream(registry, events),
			},
		}}
	}
	query := answered(schemaOf[queryAnswer](registry), questionEvents)
	query["202"] = &huma.Response{
		Description: "The run was started (with stream but without sse, or with a callback)",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schemaOf[acceptedQuestion](registry)}},
	}
	edge.Handle(e, edge.Route{Public: true, Proves: true, Form: q.postQueryForm, Operation: huma.Operation{
		OperationID: "query", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/webhooks/query",
		Summary: "Ask a question", Tags: []string{"questions"}, Responses: query,
		Description: "The body may also be multipart/form-data: the fields of the JSON body, and files in the field files, each up to the limit of an upload.",
		RequestBody: &huma.RequestBody{Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: queryFormSchema()}}},
	}}, q.postQuery)
	edge.Handle(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
		OperationID: "rag-search", Method: http.MethodPost, Path: "/tools/rag_search",
		Summary: "Search documents and answer from them", Tags: []string{"questions"}, Responses: answered(schemaOf[toolAnswer](registry), toolEvents),
	}}, q.ragSearch)
	edge.Handle(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
		OperationID: "web-search", Method: http.MethodPost, Path: "/tools/web_search",
		Summary: "Search the web and answer from its pages", Tags: []string{"questions"}, Responses: answered(schemaOf[webAnswer](registry), toolEvents),
	}}, q.webSearch)
}
