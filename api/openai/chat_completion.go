package openai

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// ChatCompletion is the answer to a request for a chat completion.
type ChatCompletion struct {
	_       struct{}     `json:"-" additionalProperties:"true"`
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created" doc:"Unix seconds"`
	Model   string       `json:"model"`
	Choices []ChatChoice `json:"choices"`
	Usage   *ChatUsage   `json:"usage,omitempty"`
}

// ChatChoice is the only choice of a completion by a project.
type ChatChoice struct {
	_            struct{}   `json:"-" additionalProperties:"true"`
	Index        int        `json:"index"`
	Message      ChatAnswer `json:"message"`
	FinishReason string     `json:"finish_reason"`
	Logprobs     *struct{}  `json:"logprobs,omitempty"`
}

// ChatAnswer is the message of a completion.
type ChatAnswer struct {
	_       struct{} `json:"-" additionalProperties:"true"`
	Role    string   `json:"role"`
	Content *string  `json:"content"`

	Annotations []URLCitation `json:"annotations,omitempty" doc:"With a project: the citations by their position in the text"`
	Citations   []Citation    `json:"citations,omitempty" doc:"With a project: the passages that the text cites"`

	Searches []retrieve.Choices `json:"searches,omitempty" doc:"With a project: settings that its searches chose automatically (docs/retrieval.md)"`
}

// ChatUsage counts tokens.
type ChatUsage struct {
	_                struct{} `json:"-" additionalProperties:"true"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	TotalTokens      int      `json:"total_tokens"`
}

func newUsage(u knowledge.Usage) *ChatUsage {
	return &ChatUsage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, TotalTokens: u.PromptTokens + u.CompletionTokens}
}
