package openai

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// InputItem is a message that a response was asked with.
type InputItem struct {
	ID      string         `json:"id"`
	Type    string         `json:"type" enum:"message"`
	Role    string         `json:"role" enum:"user,assistant,system"`
	Status  string         `json:"status" enum:"completed"`
	Content []InputContent `json:"content"`
}

// InputContent is the text of an InputItem.
type InputContent struct {
	Type        string            `json:"type" enum:"input_text,output_text"`
	Text        string            `json:"text"`
	Annotations *[]FileAnnotation `json:"annotations,omitempty" doc:"Always empty for output_text"`
}

// listInputItems answers with the question of a response, and the messages that came
// before it in the same request.
func (s *Server) listInputItems(w http.ResponseWriter, r *http.Request, p knowledge.Principal) error {
	_, run, err := s.readRun(r.Context(), p, r.PathValue("response"))
	if err != nil {
		return err
	}
	request, err := s.deps.Runs.Request(r.Context(), run)
	if err != nil {
		return err
	}
	messages := []knowledge.Message{{Role: "user", Content: request.Question}}
	if request.ConversationID == knowledge.DerivedID("conversation", run.ID) { // the history is the request's own
		history := request.History
		if door := readDoor(request); len(history) > 0 && history[0].Role == "system" && history[0].Content == door.Instructions {
			history = history[1:]
		}
		messages = slices.Concat(history, messages)
	}
	items := []InputItem{}
	for i, m := range messages {
		content := InputContent{Type: "input_text", Text: m.Content}
		if m.Role == "assistant" {
			content.Type, content.Annotations = "output_text", &[]FileAnnotation{}
		}
		items = append(items, InputItem{ID: fmt.Sprintf("msg_%s_%d", run.ID, i), Type: "message", Role: m.Role, Status: "completed", Content: []InputContent{content}})
	}
	slices.Reverse(items) // newest first, as every list
	return writePage(w, r, items, func(i InputItem) string { return i.ID })
}
