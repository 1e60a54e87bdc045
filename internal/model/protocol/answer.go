package protocol

import (
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// NewUsage returns a Usage with the total.
func NewUsage(prompt, completion int) Usage {
	return Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

// CountTokens estimates the number of tokens of a text: one for every four code
// points, as is usual for English.
func CountTokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// PromptTokens estimates the number of tokens of a request.
func PromptTokens(req ChatRequest) int {
	n := 0
	for _, m := range req.Messages {
		n += 4 + CountTokens(string(m.Content))
		for _, call := range m.ToolCalls {
			n += CountTokens(call.Function.Name) + CountTokens(call.Function.Arguments)
		}
	}
	for _, t := range req.Tools {
		n += CountTokens(t.Function.Name) + CountTokens(t.Function.Description) + (len(t.Function.Parameters)+3)/4
	}
	return n
}

// Completion is a complete answer.
type Completion struct {
	ID           string
	Model        string
	Created      int64 // Unix seconds
	Text         string
	ToolCalls    []ToolCall
	FinishReason string
	Usage        Usage
}

// WriteCompletion writes an answer that is not streamed.
func WriteCompletion(w http.ResponseWriter, c Completion) error {
	type message struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"`
		ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	}
	type choice struct {
		Index        int     `json:"index"`
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
	}
	m := message{Role: "assistant", ToolCalls: c.ToolCalls}
	if len(c.ToolCalls) == 0 || c.Text != "" {
		m.Content = &c.Text
	}
	b, err := json.Marshal(struct {
		ID      string   `json:"id"`
		Object  string   `json:"object"`
		Created int64    `json:"created"`
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
		Usage   Usage    `json:"usage"`
	}{c.ID, "chat.completion", c.Created, c.Model, []choice{{Message: m, FinishReason: c.FinishReason}}, c.Usage})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(b, '\n'))
}

// WriteModels writes the list of models.
func WriteModels(w http.ResponseWriter, names ...string) error {
	b := []byte(`{"object":"list","data":[`)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendString(b, name)
		b = append(b, `,"object":"model","created":0,"owned_by":"cairn"}`...)
	}
	return writeJSON(w, http.StatusOK, append(b, "]}\n"...))
}

// NewMux routes the three calls and answers every other request with an error.
func NewMux(chat, embeddings, models http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", chat)
	mux.HandleFunc("POST /v1/embeddings", embeddings)
	mux.HandleFunc("GET /v1/models", models)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		WriteError(w, &Error{Status: http.StatusNotFound, Code: "unknown_url", Message: "unknown request URL: " + r.Method + " " + r.URL.Path})
	})
	return mux
}

func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
