package record

import (
	"encoding/json"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// Answer is the stored result of a question. It has no words of passages: the
// API reads them from SQL, with the permission that the reader has then.
type Answer struct {
	MessageID      string            `json:"message_id,omitempty"`
	ConversationID string            `json:"conversation_id,omitempty"`
	ExecutionID    string            `json:"execution_id,omitempty"`
	Answer         string            `json:"answer"`
	Sources        []Source          `json:"sources"`
	Used           []int             `json:"used"` // ranks that the answer cites
	ToolCalls      []CalledTool      `json:"tool_calls"`
	Usage          knowledge.Usage   `json:"usage"`
	Model          string            `json:"model"`
	Blocks         []json.RawMessage `json:"blocks,omitempty"`      // as webhooks gave them
	Suggestions    []string          `json:"suggestions,omitempty"` // questions that may come next
	// FinishReason is the ModelCall's.
	FinishReason string     `json:"finish_reason,omitempty"`
	Web          *WebCounts `json:"web,omitempty"` // of a run that is a search of the web
	// Attachments are the question's.
	Attachments []knowledge.AttachedDocument `json:"attachments,omitempty"`
	// Searches are what the searches chose by themselves, those that chose nothing left out.
	Searches []retrieve.Choices `json:"searches,omitempty"`
}

// Source names a passage that the model received. It has neither words nor the name
// of a document.
type Source struct {
	Rank       int      `json:"rank"`
	Page       *WebPage `json:"page,omitempty"` // of the web, without its text
	Used       bool     `json:"used,omitempty"` // the answer cites the page
	ChunkID    string   `json:"chunk_id,omitempty"`
	DocumentID string   `json:"document_id,omitempty"`
	Version    int      `json:"version,omitempty"`
	Score      float64  `json:"score"`

	Given *GivenSource `json:"given,omitempty"` // nil = a passage of a document

	Around int              `json:"around,omitempty"` // as the Passage's, and so are the next two
	Kept   []knowledge.Span `json:"kept,omitempty"`
	Length int              `json:"length,omitempty"`
	Rows   *TableRows       `json:"rows,omitempty"`
}

// GivenSource is a source whose words a webhook gave.
type GivenSource struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
	Text string `json:"text"`
}

// CalledTool is a tool call of an answer.
type CalledTool struct {
	ID        string              `json:"id"`
	Name      string              `json:"name"`
	Arguments string              `json:"arguments"`
	Status    knowledge.RunStatus `json:"status"` // completed, failed or refused
	Files     []knowledge.RunFile `json:"files,omitempty"`
}

// Number sets the numbers by which the answer cites the sources, and sorts them. order
// are their ranks in the order of these numbers.
func (r *Answer) Number(order []int) {
	r.Used = r.Used[:0]
	for i := range order {
		r.Used = append(r.Used, i+1)
	}
	for i := range r.Sources {
		r.Sources[i].Rank = slices.Index(order, r.Sources[i].Rank) + 1
	}
	slices.SortFunc(r.Sources, func(a, b Source) int { return a.Rank - b.Rank })
}
