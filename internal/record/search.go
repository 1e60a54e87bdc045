package record

import (
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// Search is what a search found. It names passages without their
// words, which lookUp reads and which a removal deletes with the document.
type Search struct {
	Passages  []Passage `json:"passages"`
	Retrieved int       `json:"retrieved"`

	Reranking *retrieve.Reranking `json:"reranking,omitempty"`
	Choices   retrieve.Choices    `json:"choices,omitzero"`
	Usage     knowledge.Usage     `json:"usage,omitzero"`
	// Listed are documents whose names the model is told, those that the principal may read.
	Listed []string `json:"listed,omitempty"`
	// Note tells the model how much there is. It holds counts, and no words of documents.
	Note string     `json:"note,omitempty"`
	Web  *WebCounts `json:"web,omitempty"` // of a search of the web
	// Answer is the blob of an agent's answer, which the model reads behind the passages.
	Answer string `json:"answer,omitempty"`
	// Contexts are the passages of a record that an earlier version of Cairn wrote.
	Contexts []Passage `json:"contexts,omitempty"`
}

// Passage names a passage that a search found, or is a page of the web. Rank, 1 = first, counts over all
// searches of a run; Chosen.Read sets it.
type Passage struct {
	Rank       int            `json:"-"`
	Page       *WebPage       `json:"page,omitempty"` // then it has neither chunk nor document
	ChunkID    string         `json:"chunk_id,omitempty"`
	DocumentID string         `json:"document_id,omitempty"`
	Version    int            `json:"version,omitempty"`
	Span       knowledge.Span `json:"span,omitzero"` // code points of the document's text
	Score      float64        `json:"score"`
	Around     int            `json:"around,omitempty"` // chunks on either side that the model reads too
	// Kept are the parts that the model reads of a passage of Length code points.
	Kept   []knowledge.Span `json:"kept,omitempty"`
	Length int              `json:"length,omitempty"`
	Rows   *TableRows       `json:"rows,omitempty"` // the model reads the answer to a query of them in place of the chunk
	Given  *GivenSource     `json:"-"`              // words from outside, which are in no document
}

// ID tells passages apart.
func (p Passage) ID() string {
	if p.Page != nil {
		return p.Page.URL
	}
	if p.Rows != nil {
		return p.Rows.Key
	}
	return p.ChunkID
}

// TableRows are rows of a table of a document that answer a query. The chunk of their passage
// is the one in which they begin.
type TableRows struct {
	Key   string `json:"key"`   // of the blob with the answer, which belongs to the version of the document
	First int    `json:"first"` // row of the sheet or line of the text, 1 = first
	Last  int    `json:"last"`
}

// SearchResult is the result of a search. Key names the blob of what it found. A short
// result of the first search is in Found instead, because the write of a blob would
// delay the first word.
type SearchResult struct {
	Key       string  `json:"key,omitempty"`
	Found     *Search `json:"found,omitempty"`
	Retrieved int     `json:"retrieved"` // candidates of the index
	Kept      int     `json:"kept"`      // passages for the model

	Reranking *retrieve.Reranking `json:"reranking,omitempty"` // nil = without a reranker
	Chosen    bool                `json:"chosen,omitempty"`    // the record has Choices
	Usage     knowledge.Usage     `json:"usage,omitzero"`      // of models
}

// Result returns what a search tells its workflow.
func (r Search) Result(key string) SearchResult {
	return SearchResult{Key: key, Retrieved: r.Retrieved, Kept: len(r.Passages) + len(r.Contexts) + len(r.Listed), Reranking: r.Reranking, Chosen: !r.Choices.IsZero(), Usage: r.Usage}
}

// Source returns the passage as an answer names it that cites the ranks in used.
func (p Passage) Source(used []int) Source {
	s := Source{Rank: p.Rank, ChunkID: p.ChunkID, DocumentID: p.DocumentID, Version: p.Version, Score: p.Score, Given: p.Given, Around: p.Around, Kept: p.Kept, Length: p.Length, Rows: p.Rows}
	if p.Page != nil {
		page := *p.Page
		page.Text = ""
		s.Page, s.Used = &page, slices.Contains(used, p.Rank)
	}
	return s
}
