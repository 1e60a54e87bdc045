package openai

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// cancelPatience bounds the wait for a run that was asked to stop.
const cancelPatience = 5 * time.Second

func (s *Server) registerResponses() {
	id := pathParam("response", "The id of the response")
	content := map[string]*huma.MediaType{
		"application/json":  {Schema: schema[Response](s)},
		"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString, Description: "Events response.*, with sequence_number"}},
	}
	both := map[string]*huma.Response{"200": {Description: "The response, or with stream its events", Content: content}}
	s.handle(edge.Route{Public: true, Proves: true, Limit: largeBody, Operation: huma.Operation{
		OperationID: "create-response", Method: http.MethodPost, Path: "/v1/responses", Summary: "Ask a project", RequestBody: request[ResponseRequest](s), Responses: both,
		Description: "A response is a view of a run: it survives a restart, and can be read and followed at any server. With background the request returns at once.",
	}}, s.createResponse)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "get-response", Method: http.MethodGet, Path: "/v1/responses/{response}", Summary: "Read or follow a response", Responses: both,
		Parameters: []*huma.Param{
			id,
			{Name: "stream", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}, Description: "true: stream its events, including future ones"},
			{Name: "starting_after", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "With stream: only events with a higher sequence_number"},
			{Name: "include", In: "query", Schema: &huma.Schema{Type: huma.TypeString}, Description: "file_search_call.results: the passages that were found"},
			{Name: "include[]", In: "query", Schema: &huma.Schema{Type: huma.TypeString}, Description: "The same as include"},
			{Name: "include_obfuscation", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}, Description: "Ignored"},
		},
	}}, s.getResponse)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "list-input-items", Method: http.MethodGet, Path: "/v1/responses/{response}/input_items", Summary: "List the input messages of a response",
		Parameters: append(pageParams(), id, &huma.Param{Name: "include", In: "query", Schema: &huma.Schema{Type: huma.TypeString}, Description: "Not supported"}), Responses: answers[Page[InputItem]](s, "The messages"),
	}}, s.listInputItems)
	s.handle(edge.Route{Operation: huma.Operation{
		OperationID: "cancel-response", Method: http.MethodPost, Path: "/v1/responses/{response}/cancel", Summary: "Cancel a response",
		Parameters: []*huma.Param{id}, Responses: answers[Response](s, "The response"),
	}}, s.cancelResponse)
}

func (s *Server) createResponse(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) error {
	var b ResponseRequest
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
		return err
	}
	if err := responseFields.check(r); err != nil {
		return err
	}
	as, err := edge.ActingFromBody(r, b.ActingBody)
	if err != nil {
		return err
	}
	p, err := s.deps.Edge.Principal(r, r.PathValue("workspaceId"), as)
	if err != nil {
		return err
	}
	if b.PreviousResponseID != "" {
		_, previous, err := s.readRun(r.Context(), p, b.PreviousResponseID)
		if err != nil || previous.ConversationID == "" {
			return knowledge.Invalid("body.previous_response_id", "names no response of yours that has a conversation")
		}
		as.Session = previous.ConversationID
		if p, err = s.deps.Edge.Principal(r, r.PathValue("workspaceId"), as); err != nil {
			return err
		}
	}
	files, err := b.Input.takeFiles()
	if err != nil {
		return err
	}
	attachments, release, err := s.attachments(r.Context(), p, "body.input", files)
	defer release()
	if err != nil {
		return err
	}
	request, err := s.responseQuestion(b, as.Session)
	if err != nil {
		return err
	}
	request.Attachments = attachments
	if b.Stream {
		release, err := s.deps.Runs.OpenStream()
		if err != nil {
			return err
		}
		defer release()
	}
	started, err := s.start(w, r, p, request)
	if err != nil {
		return err
	}
	defer started.Release()
	if len(attachments) > 0 { // which only the conversation sees
		if p, _, err = s.deps.Runs.Readable(r.Context(), p, started.Run.ID); err != nil {
			return err
		}
	}
	door := b.door()
	switch {
	case b.Stream:
		return s.streamResponse(w, r, p, started.Run, door, -1)
	case b.Background:
		edge.WriteJSON(w, http.StatusOK, newResponse(started.Run, door))
		return nil
	}
	return s.awaitResponse(w, r, p, started.Run, door)
}

// awaitResponse waits for the run to end and answers with the response. A run that failed
// is an error, as its client waits for it.
func (s *Server) awaitResponse(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, door responseDoor) error {
	var out Outcome
	err := s.deps.Runs.Follow(r.Context(), run, func() error { return nil }, func(item stream.Item) (err error) {
		switch item.Topic {
		case stream.TopicCompleted:
			out, err = s.outcome(r.Context(), p, run, item)
		case stream.TopicError:
			err = runError(item)
		}
		return err
	})
	if err != nil {
		return err
	}
	edge.WriteJSON(w, http.StatusOK, newResponse(run, door).complete(run, door, out))
	return nil
}

// streamResponse sends the events of a response behind one of them, -1 = all, and follows
// its run to the end. The run continues without its reader.
func (s *Server) streamResponse(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, door responseDoor, after int) error {
	w.Header().Set(runHeader, run.ID)
	events := &responseStream{server: s, principal: p, run: run, door: door, out: newStream(w), after: after, message: -1, words: plainWords{links: s.deps.Runs.Links(p, run)}, searches: map[string]search{}}
	events.out.begin()
	err := s.deps.Runs.Follow(r.Context(), run, events.out.alive, func(item stream.Item) error { return events.item(r.Context(), item) })
	if err != nil {
		return events.out.fail(r, err)
	}
	return nil
}

// readRun returns the run of a response, with the principal as it may read it.
func (s *Server) readRun(ctx context.Context, p knowledge.Principal, id string) (knowledge.Principal, store.Run, error) {
	run, ok := strings.CutPrefix(id, responsePrefix)
	if !ok {
		return p, store.Run{}, knowledge.NotFound("response", id)
	}
	p, row, err := s.deps.Runs.Readable(ctx, p, run)
	if err == nil && row.Kind != knowledge.KindQuery || knowledge.IsCode(err, knowledge.CodeNotFound) {
		return p, row, knowledge.NotFound("response", id)
	}
	return p, row, err
}

func (s *Server) getResponse(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	p, run, err := s.readRun(r.Context(), p, r.PathValue("response"))
	if err != nil {
		return err
	}
	after := -1
	if text := r.URL.Query().Get("starting_after"); text != "" {
		if after, err = strconv.Atoi(text); err != nil || after < -1 {
			return knowledge.Invalid("query.starting_after", "must be the sequence_number of an event")
		}
	}
	request, err := s.deps.Runs.Request(r.Context(), run)
	if err != nil {
		return err
	}
	door := readDoor(request)
	query := r.URL.Query()
	door.Results = door.Results || slices.Contains(slices.Concat(query["include"], query["include[]"]), includeResults)
	if edge.IsSet(r, "stream") {
		release, err := s.deps.Runs.OpenStream()
		if err != nil {
			return err
		}
		defer release()
		return s.streamResponse(w, r, p, run, door, after)
	}
	return s.writeResponse(w, r, p, run, door)
}

// writeResponse answers with a response as it stands.
func (s *Server) writeResponse(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, door responseDoor) error {
	response := newResponse(run, door)
	switch run.Status {
	case knowledge.RunCompleted:
		out, err := s.deps.Runs.Outcome(r.Context(), p, run, run.ResultKey)
		if err != nil {
			return err
		}
		response = response.complete(run, door, out)
	case knowledge.RunFailed, knowledge.RunCanceled:
		e := knowledge.Errorf(knowledge.CodeInternal, "the run ended without an answer")
		if run.Error != nil {
			e = knowledge.Errorf(run.Error.Code, "%s", run.Error.Message)
		}
		if run.Status == knowledge.RunCanceled {
			e.Code = knowledge.CodeCanceled
		}
		response = response.fail(e)
	}
	edge.WriteJSON(w, http.StatusOK, response)
	return nil
}

// cancelResponse asks the run to stop, and waits a moment for its end.
func (s *Server) cancelResponse(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	p, run, err := s.readRun(r.Context(), p, r.PathValue("response"))
	if err != nil {
		return err
	}
	if err := s.deps.Runs.Cancel(r.Context(), p, run.ID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), cancelPatience)
	defer cancel()
	// An error leaves the response as it stands: its run has not ended yet.
	_ = s.deps.Runs.Follow(ctx, run, func() error { return nil }, func(stream.Item) error { return nil })
	if p, run, err = s.deps.Runs.Readable(r.Context(), p, run.ID); err != nil {
		return err
	}
	request, err := s.deps.Runs.Request(r.Context(), run)
	if err != nil {
		return err
	}
	return s.writeResponse(w, r, p, run, readDoor(request))
}
