package record

import (
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Generation is the snapshot with which a chat model makes a test set. It never enters a
// workflow's history.
type Generation struct {
	Principal knowledge.Principal       `json:"principal"`
	Name      string                    `json:"name"` // of the test set
	Model     string                    `json:"model"`
	Count     int                       `json:"count"`
	Seed      uint64                    `json:"seed"`
	Tags      []string                  `json:"tags,omitempty"`
	Documents []string                  `json:"documents,omitempty"`
	Retrieval knowledge.RetrievalConfig `json:"retrieval"` // of the project
	Privacy   knowledge.PrivacyConfig   `json:"privacy,omitzero"`
}

// AskedPassages is a question that a generation may write, with its passages.
type AskedPassages struct {
	Kind     evaluate.Kind   `json:"kind"`
	Passages []knowledge.Hit `json:"passages"`
}

// GeneratedQuestion is what became of a planned question. Dropped is "" if it is kept.
type GeneratedQuestion struct {
	Question evaluate.Generated `json:"question,omitzero"`
	Dropped  evaluate.Drop      `json:"dropped,omitempty"`
	Usage    knowledge.Usage    `json:"usage,omitzero"`
}

// PassageOf returns a chunk of a document as evaluations read it.
func PassageOf(c knowledge.Chunk, d knowledge.Document) evaluate.Passage {
	p := evaluate.Passage{ChunkID: c.ID, DocumentID: d.ID, ExternalID: d.ExternalID, Document: d.Name, Header: c.Header, Text: c.Text}
	if n := len(c.HeadingPath); n > 0 {
		p.Heading = c.HeadingPath[n-1]
	}
	for _, line := range c.Lines {
		if n := len(p.Pages); line.Page > 0 && (n == 0 || p.Pages[n-1] != line.Page) {
			p.Pages = append(p.Pages, line.Page)
		}
	}
	return p
}
