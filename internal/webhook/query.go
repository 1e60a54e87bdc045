package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/view"
)

// QueryPayload is what a webhook of type queries is told of a question. All of its fields are in
// the JSON, null where nothing is known.
type QueryPayload struct {
	Input          string              `json:"input"`
	MessageID      *string             `json:"messageId"` // nil = the answer is kept in no conversation
	History        []knowledge.Message `json:"history"`
	Interface      json.RawMessage     `json:"interface"`
	Filters        knowledge.Filter    `json:"filters"`
	Metadata       json.RawMessage     `json:"metadata"`
	WebhookPayload json.RawMessage     `json:"webhookPayload"`

	AllConversationAttachments []Attachment `json:"allConversationAttachments"`
	NewAttachments             []Attachment `json:"newAttachments"`
}

// Attachment is a document of the conversation.
type Attachment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// QueryEnvelope returns the body of the request for a question in a conversation.
func QueryEnvelope(p QueryPayload, project knowledge.Project, conversation string, at time.Time) ([]byte, error) {
	if p.History == nil {
		p.History = []knowledge.Message{}
	}
	if p.Filters == nil {
		p.Filters = knowledge.Filter{}
	}
	if p.AllConversationAttachments == nil {
		p.AllConversationAttachments = []Attachment{}
	}
	if p.NewAttachments == nil {
		p.NewAttachments = []Attachment{}
	}
	data, err := json.Marshal(envelope{
		Type: knowledge.WebhookQueries, ProjectID: project.ID, CreatedAt: at.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano),
		SessionID: conversation, Payload: p, Project: view.NewProject(project),
	})
	if err != nil {
		return nil, fmt.Errorf("encode a question to project %s: %w", project.ID, err)
	}
	return data, nil
}

// QueryAnswer is what a webhook of type queries may answer: any of the fields, each of
// which replaces what Cairn would have done.
type QueryAnswer struct {
	Chunks        []GivenChunk        `json:"chunks,omitempty"`
	Prompt        []knowledge.Message `json:"prompt,omitempty"`
	Answer        *string             `json:"answer,omitempty"`
	SearchResults []SearchResult      `json:"searchResults,omitempty"`
	Blocks        []json.RawMessage   `json:"blocks,omitempty"`
	AIParameters  *AIParameters       `json:"aiParameters,omitempty"`
	Filters       *knowledge.Filter   `json:"filters,omitempty"`
}

// GivenChunk is a passage that a webhook gives in place of the passages of a search.
type GivenChunk struct {
	Value struct {
		Content     string `json:"content"`
		KnowledgeID string `json:"knowledgeId"`
		Name        string `json:"name"`
		URL         string `json:"url"`
	} `json:"value"`
}

// SearchResult is a source that a webhook shows in place of the sources of the answer.
type SearchResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// AIParameters are the settings of the model that a webhook may change.
type AIParameters struct {
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
}

// UnmarshalJSON also reads max_tokens, as the OpenAI protocol writes it.
func (a *AIParameters) UnmarshalJSON(data []byte) error {
	type parameters AIParameters
	read := struct {
		parameters

		Limit int `json:"max_tokens"`
	}{}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*a = AIParameters(read.parameters)
	if a.MaxTokens == 0 {
		a.MaxTokens = read.Limit
	}
	return nil
}

// The bounds of an answer.
const (
	maxGiven     = 200 // chunks, results, blocks and messages, each
	maxMaxTokens = 200_000
)

// Names returns the names of the fields that the answer has.
func (a QueryAnswer) Names() []string {
	names := []string{}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"chunks", a.Chunks != nil}, {"prompt", a.Prompt != nil}, {"answer", a.Answer != nil}, {"searchResults", a.SearchResults != nil},
		{"blocks", a.Blocks != nil}, {"aiParameters", a.AIParameters != nil}, {"filters", a.Filters != nil},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// Merge lays b over a: what b has replaces what a has.
func (a *QueryAnswer) Merge(b QueryAnswer) {
	if b.Chunks != nil {
		a.Chunks = b.Chunks
	}
	if b.Prompt != nil {
		a.Prompt = b.Prompt
	}
	if b.Answer != nil {
		a.Answer = b.Answer
	}
	if b.SearchResults != nil {
		a.SearchResults = b.SearchResults
	}
	a.Blocks = append(a.Blocks, b.Blocks...)
	if b.AIParameters != nil {
		a.AIParameters = b.AIParameters
	}
	if b.Filters != nil {
		a.Filters = b.Filters
	}
}

// fault returns what is wrong with the answer, "" = nothing.
func (a QueryAnswer) fault() string {
	switch {
	case len(a.Chunks) > maxGiven, len(a.Prompt) > maxGiven, len(a.SearchResults) > maxGiven, len(a.Blocks) > maxGiven:
		return fmt.Sprintf("a list has more than %d entries", maxGiven)
	case a.Filters != nil && len(a.Filters.Fields("filters")) > 0:
		first := a.Filters.Fields("filters")[0]
		return clean(first.Location + " " + first.Message)
	}
	for _, m := range a.Prompt {
		if m.Role != "system" && m.Role != "user" && m.Role != "assistant" {
			return "prompt has a message whose role is not system, user or assistant"
		}
	}
	if p := a.AIParameters; p != nil {
		if p.Temperature != nil && (*p.Temperature < 0 || *p.Temperature > 2) || p.MaxTokens < 0 || p.MaxTokens > maxMaxTokens {
			return "aiParameters are out of range: temperature 0 to 2, maxTokens up to 200000"
		}
	}
	return ""
}
