package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// runHeader names the run that an answer started.
const runHeader = "Cairn-Run-Id"

// askProject answers with a project: the request is a question, which starts a run.
func (s *Server) askProject(w http.ResponseWriter, r *http.Request, p knowledge.Principal, slug string, b ChatRequest) error {
	pictures, err := b.takePictures()
	if err != nil {
		return err
	}
	request, err := b.question(slug)
	if err != nil {
		return err
	}
	attachments, release, err := s.attachments(r.Context(), p, "body.messages", pictures)
	defer release()
	if err != nil {
		return err
	}
	if len(attachments) > 0 { // which become documents of a conversation
		request.Attachments, request.Converse = attachments, true
	}
	if b.Stream { // before anything that costs is started
		release, err := s.deps.Runs.OpenStream()
		if err != nil {
			return err
		}
		defer release()
	}
	started, err := s.start(w, r, p, request)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return unknownModel(b.Model, err)
	}
	if err != nil {
		return err
	}
	defer started.Release()
	if len(attachments) > 0 { // which only the conversation sees
		if p, _, err = s.deps.Runs.Readable(r.Context(), p, started.Run.ID); err != nil {
			return err
		}
	}
	c := &completion{server: s, principal: p, run: started.Run, model: b.Model}
	if b.Stream {
		return c.stream(w, r, b.StreamOptions != nil && b.StreamOptions.IncludeUsage)
	}
	return c.whole(w, r)
}

// start starts the run of a question, or finds the run of the same request.
func (s *Server) start(w http.ResponseWriter, r *http.Request, p knowledge.Principal, request question.Request) (question.Started, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return question.Started{}, edge.BodyError(err)
	}
	request.Idempotency = idempotency.Request{Key: r.Header.Get(edge.IdempotencyHeader), Route: r.URL.Path, Hash: idempotency.Hash(bytes.TrimSpace(body))}
	started, err := s.deps.Questions.Start(r.Context(), p, request)
	s.deps.WriteAllowance(w, started.Allowance)
	if started.Repeated {
		w.Header().Set(edge.ReplayedHeader, "true")
	}
	if started.Run.ID != "" {
		w.Header().Set(runHeader, started.Run.ID)
	}
	return started, err
}

// question returns the request as a question to a project: the last message of the user,
// with the messages before it as its history.
func (b ChatRequest) question(slug string) (question.Request, error) {
	if err := b.onlyModels(); err != nil {
		return question.Request{}, err
	}
	last := -1
	for i, m := range b.Messages {
		if m.Role == "user" {
			last = i
		}
		others := m.Content.others
		if len(m.Content.files) > 0 {
			others = append(others, m.Content.files[0].Type)
		}
		if len(others) > 0 {
			return question.Request{}, knowledge.Invalid(fmt.Sprintf("body.messages[%d].content", i), "has a part of the type %s; a project reads texts, in messages of the user of a chat image_url, and in the last message of a response input_file and input_image", knowledge.Cut(others[0], 50))
		}
	}
	if last < 0 {
		return question.Request{}, knowledge.Invalid("body.messages", "must have a message of the user, which is the question")
	}
	choice, err := toolChoice(b.ToolChoice)
	if err != nil {
		return question.Request{}, err
	}
	form, err := b.form()
	if err != nil {
		return question.Request{}, err
	}
	limit := b.MaxTokens
	if b.MaxCompletionTokens != nil {
		limit = b.MaxCompletionTokens
	}
	return question.Request{
		Kind: knowledge.KindQuery, TextField: fmt.Sprintf("body.messages[%d].content", last), Text: b.Messages[last].Content.text, Project: slug, ToolChoice: choice, ToolField: "body.tool_choice", Form: form, FormField: "body.response_format",
		History: history(b.Messages[:last]), Override: override("", b.Temperature, limit), Converse: b.SessionID != "", Conversation: b.SessionID,
	}, nil
}

// onlyModels refuses what a project cannot do, rather than ignore it.
func (b ChatRequest) onlyModels() error {
	switch {
	case len(b.Tools) > 0:
		return knowledge.Invalid("body.tools", "must be left out: a project answers with its own tools")
	case b.N != nil && *b.N > 1:
		return knowledge.Invalid("body.n", "must be 1: a project gives one answer")
	}
	return nil
}

// history returns the messages before a question that the model is shown. Calls of the
// client's own tools are left out.
func history(messages []ChatMessage) []knowledge.Message {
	var list []knowledge.Message
	for _, m := range messages {
		role := m.Role
		switch role {
		case "developer":
			role = "system"
		case "tool", "function":
			continue
		}
		list = append(list, knowledge.Message{Role: role, Content: m.Content.text})
	}
	return list
}

// override returns the settings of a request as a part of a project's configuration, nil
// if there are none.
func override(model string, temperature *float64, maxTokens *int) json.RawMessage {
	settings := map[string]any{}
	if model != "" {
		settings["model"] = model
	}
	if temperature != nil {
		settings["temperature"] = *temperature
	}
	if maxTokens != nil {
		settings["maxTokens"] = *maxTokens
	}
	if len(settings) == 0 {
		return nil
	}
	data, err := json.Marshal(map[string]any{"ai": settings})
	if err != nil {
		return nil // strings and finite numbers have JSON
	}
	return data
}

// completion is a run as a chat completion.
type completion struct {
	server    *Server
	principal knowledge.Principal
	run       store.Run
	model     string
}

func (c *completion) id() string { return "chatcmpl-" + c.run.ID }

// whole waits for the run to end and answers with the completion.
func (c *completion) whole(w http.ResponseWriter, r *http.Request) error {
	var out Outcome
	err := c.server.deps.Runs.Follow(r.Context(), c.run, func() error { return nil }, func(item stream.Item) (err error) {
		switch item.Topic {
		case stream.TopicCompleted:
			out, err = c.server.outcome(r.Context(), c.principal, c.run, item)
		case stream.TopicError:
			err = runError(item)
		}
		return err
	})
	if err != nil {
		return err
	}
	text, marks := plain(out.Text)
	edge.WriteJSON(w, http.StatusOK, ChatCompletion{
		ID: c.id(), Object: "chat.completion", Created: c.run.CreatedAt.Unix(), Model: c.model,
		Choices: []ChatChoice{{FinishReason: out.finish(), Message: ChatAnswer{
			Role: "assistant", Content: &text, Annotations: out.annotations(marks, c.server.deps.Address(r)), Citations: out.citations(), Searches: out.Choices,
		}}},
		Usage: newUsage(out.Usage),
	})
	return nil
}

// outcome reads the answer that a run's last item names.
func (s *Server) outcome(ctx context.Context, p knowledge.Principal, run store.Run, item stream.Item) (Outcome, error) {
	event, err := stream.DecodeEvent(item.Data)
	if err != nil {
		return Outcome{}, fmt.Errorf("last item of run %s: %w", run.ID, err)
	}
	return s.deps.Runs.Outcome(ctx, p, run, event.Ref)
}

// runError returns the error with which a run ended.
func runError(item stream.Item) error {
	var failure knowledge.Failure
	event, err := stream.DecodeEvent(item.Data)
	if err != nil || json.Unmarshal(event.Data, &failure) != nil || failure.Code == "" {
		return knowledge.Errorf(knowledge.CodeInternal, "the run ended without an answer")
	}
	return failure.AsError(time.Now())
}
