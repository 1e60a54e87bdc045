package openai

import (
	"cmp"
	"context"
	"strings"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Runs shows the runs of questions. It is safe for concurrent use.
type Runs interface {
	// Follow hands the items of a run to emit, from the first to the last, and calls
	// alive when there was none for a while. It ends with the first error of either.
	Follow(ctx context.Context, run store.Run, alive func() error, emit func(stream.Item) error) error
	// Outcome returns the answer that is stored under key, as the principal may read it.
	Outcome(ctx context.Context, p knowledge.Principal, run store.Run, key string) (Outcome, error)
	// Readable returns a run with the principal as it reads what the run came to. The
	// answer to somebody else's question is CodeForbidden.
	Readable(ctx context.Context, p knowledge.Principal, id string) (knowledge.Principal, store.Run, error)
	// Request returns the question with which a run started.
	Request(ctx context.Context, run store.Run) (knowledge.Request, error)
	// Links returns what signs the links to files of a run while its words stream.
	Links(p knowledge.Principal, run store.Run) Words
	// Cancel asks a run to stop. One that has ended otherwise is CodeConflict.
	Cancel(ctx context.Context, p knowledge.Principal, id string) error
	// OpenStream counts a stream that opens, or refuses it (CodeRateLimited).
	OpenStream() (release func(), err error)
}

// Words changes words while they stream, which may be cut anywhere.
type Words interface {
	// Write returns the words that are certain by now.
	Write(text string) string
	// Holds reports whether words are held back.
	Holds() bool
	// Close returns what was held back.
	Close() string
}

// Outcome is the answer to a question with the passages that its reader may see.
type Outcome struct {
	Text           string // with citations in it
	Model          string
	ConversationID string
	FinishReason   string // why the model stopped early; "" = it did not
	Usage          knowledge.Usage
	Sources        []Citation
	Searches       []string           // queries with which the model searched
	Choices        []retrieve.Choices // of its searches, those that chose nothing left out
}

// Citation is a passage that an answer rests on.
type Citation struct {
	Rank         int      `json:"rank" doc:"The n of [n] in the text"`
	ChunkID      string   `json:"chunkId"`
	DocumentID   string   `json:"documentId"`
	DocumentName string   `json:"documentName"`
	ExternalID   string   `json:"externalId"`
	URL          string   `json:"url,omitempty" doc:"The URL of the original file; needs no key for an hour"`
	Text         string   `json:"text"`
	Score        float64  `json:"score"`
	Heading      []string `json:"heading"`
	PageNumber   *int     `json:"pageNumber"`
	Used         bool     `json:"usedInResponse"`
}

// finish returns the reason for which the answer ended, in the words of the protocol.
func (o Outcome) finish() string { return cmp.Or(o.FinishReason, model.FinishStop) }

// cited returns the passages that the answer cites.
func (o Outcome) citations() []Citation {
	list := []Citation{}
	for _, c := range o.Sources {
		if c.Used {
			list = append(list, c)
		}
	}
	return list
}

// source returns the passage of a mark, nil if it is gone or is a web page.
func (o Outcome) source(m citation.Cited) *Citation {
	for i, c := range o.Sources {
		if m.ChunkID != "" && c.ChunkID == m.ChunkID {
			return &o.Sources[i]
		}
	}
	return nil
}

// URLCitation is an annotation of a message: the place of its [n], and the source.
type URLCitation struct {
	Type     string     `json:"type" enum:"url_citation"`
	Citation URLOfPlace `json:"url_citation"`
}

// URLOfPlace is the source of a place in a text.
type URLOfPlace struct {
	StartIndex int    `json:"start_index" doc:"Code points"`
	EndIndex   int    `json:"end_index"`
	Title      string `json:"title"`
	URL        string `json:"url"`
}

// annotations returns the citations of a text as annotations of a chat message. Links to
// the API, at whose address they are read, become addresses that a client can open.
func (o Outcome) annotations(marks []citation.Cited, address string) []URLCitation {
	list := []URLCitation{}
	for _, m := range marks {
		place := URLOfPlace{StartIndex: m.Start, EndIndex: m.End, Title: m.Title, URL: m.URL}
		if c := o.source(m); c != nil {
			place.Title, place.URL = c.DocumentName, cmp.Or(c.URL, "/chunks/"+c.ChunkID)
		}
		if strings.HasPrefix(place.URL, "/") {
			place.URL = address + place.URL
		}
		list = append(list, URLCitation{"url_citation", place})
	}
	return list
}

// plain returns an answer without the tags of its citations, and where these are.
func plain(text string) (string, []citation.Cited) {
	m := &citation.PlainText{}
	text = m.Write(text)
	return text + m.Close(), m.Cited
}
