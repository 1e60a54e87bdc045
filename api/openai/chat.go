package openai

import (
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func (s *Server) registerChat() {
	s.handle(edge.Route{Public: true, Proves: true, Limit: largeBody, Operation: huma.Operation{
		OperationID: "create-chat-completion", Method: http.MethodPost, Path: "/v1/chat/completions", Summary: "Complete a chat",
		Description: "With a model of the instance the request is forwarded to its endpoint unchanged. With project:<slug> the last user message is the question, the messages before it are its history, and the answer is the same as from POST /query, with citations.",
		RequestBody: request[ChatRequest](s), Responses: map[string]*huma.Response{"200": {
			Description: "The completion, or with stream a stream of chunks",
			Content: map[string]*huma.MediaType{
				"application/json":  {Schema: schema[ChatCompletion](s)},
				"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString, Description: "Events whose data are chat.completion.chunk objects, the last one [DONE]"}},
			},
		}},
	}}, s.createChatCompletion)
}

func (s *Server) createChatCompletion(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) error {
	var b ChatRequest
	if err := s.deps.Edge.DecodeBody(r, &b); err != nil {
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
	if slug, ok := strings.CutPrefix(b.Model, projectPrefix); ok {
		if err := chatFields.check(r); err != nil {
			return err
		}
		return s.askProject(w, r, p, slug, b)
	}
	if b.Model != s.deps.Models.Chat.Endpoint().Model {
		return unknownModel(b.Model, nil)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return edge.BodyError(err)
	}
	if err := s.checkAddresses(r.Context(), body); err != nil {
		return err
	}
	s.deps.Edge.OnceFor(w, r, p, idempotency.Hash(body), func(w http.ResponseWriter, r *http.Request) {
		if err := s.forward(w, r, p, body, b.Stream); err != nil {
			edge.WriteError(w, r, err)
		}
	})
	return nil
}

// checkForwarded refuses requests to the models of the instance, whose texts would go there
// unchanged, where the project keeps personal data from models.
func checkForwarded(project knowledge.Project) error {
	if project.Config.Privacy.RedactsForProviders() {
		return knowledge.Errorf(knowledge.CodeForbidden, "the models of the instance get no requests of project %q, which keeps personal data from models (privacy.providers): ask the model project:%s, or search the project", project.ID, project.ID)
	}
	return nil
}

// forward sends the request to the endpoint of the instance's chat model and relays its
// answer as it comes.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, p knowledge.Principal, body []byte, stream bool) error {
	project, err := s.deps.Questions.Project(r.Context(), p, "")
	if err != nil {
		return err
	}
	allowance, err := s.deps.Questions.Allow(r.Context(), p, project)
	s.deps.WriteAllowance(w, allowance)
	if err != nil {
		return err
	}
	if err := checkForwarded(project); err != nil {
		return err
	}
	if body, err = forwardedBody(body); err != nil {
		return err
	}
	answer, err := s.deps.Models.Chat.ForwardChat(r.Context(), body, stream)
	if err != nil {
		return refusedByModel(err)
	}
	defer answer.Close()
	var used forwardedUse
	defer func() {
		if err := used.charge(r.Context(), p, project.ID, body, answer.Priced); err != nil {
			edge.RequestLog(r.Context()).ErrorContext(r.Context(), "the use of a forwarded request was not counted", "error", err)
		}
	}()
	if !stream {
		used.note(answer.Whole())
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer.Whole()) // an error here is the connection's
		return nil
	}
	out := newStream(w)
	for data, err := range answer.Events() {
		if err != nil {
			return out.fail(r, err)
		}
		used.note(data)
		if err := out.event("", data); err != nil {
			return nil // the client has left
		}
	}
	out.done()
	return nil
}
