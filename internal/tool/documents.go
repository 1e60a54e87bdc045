package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The names of the tools that read documents.
const (
	FileSearch    = "file_search"
	FileSummary   = "file_summary"
	ListDocuments = "list_documents"
	OpenDocument  = "open_document"
	GrepDocuments = "grep_documents"
)

// Documents reads documents for a call: those that its principal may read and its question
// may search. An Output has counts of documents, and no words of them but passages.
type Documents interface {
	// Search searches what is attached to the conversation.
	Search(ctx context.Context, c Call, query string) (Output, error)
	// List lists documents, newest first.
	List(ctx context.Context, c Call, l Listing) (Output, error)
	// Open returns a part of a document.
	Open(ctx context.Context, c Call, p Part) (Output, error)
	// Grep finds the passages that hold a pattern.
	Grep(ctx context.Context, c Call, p Pattern) (Output, error)
	// Summarize has the model read a whole document.
	Summarize(ctx context.Context, c Call, s Summary) (Output, error)
}

// Listing selects documents.
type Listing struct {
	Name   string `json:"name"` // part of it, in any case
	Tag    string `json:"tag"`
	Offset int    `json:"offset"`
}

// Part is a part of a document. Pages, lines and passages count from 1.
type Part struct {
	Document    string `json:"document"` // id, or name
	FromPage    int    `json:"from_page"`
	ToPage      int    `json:"to_page"`
	FromLine    int    `json:"from_line"`
	ToLine      int    `json:"to_line"`
	FromPassage int    `json:"from_passage"`
}

// Pattern is what Grep looks for.
type Pattern struct {
	Pattern    string   `json:"pattern"`
	Regex      bool     `json:"regex"` // in the syntax of RE2
	IgnoreCase bool     `json:"ignore_case"`
	Documents  []string `json:"documents"` // ids or names; none = all
}

// Summary says what to summarize.
type Summary struct {
	Document string `json:"document"` // id, or name
	Focus    string `json:"focus"`    // what the summary is for
}

// NewDocuments returns the tools that read documents. file_search is among them if something
// is attached to the conversation.
func NewDocuments(documents Documents, attached bool) Set {
	const document = `"document":{"type":"string","minLength":1,"maxLength":512,"description":"Id or exact name of the document"}`
	set := Set{
		typed(ListDocuments, "List the documents that can be searched: ids, names, pages. Use it to find a document by its name.",
			`"name":{"type":"string","maxLength":200,"description":"Part of the name"},"tag":{"type":"string","maxLength":128},"offset":{"type":"integer","minimum":0,"description":"How many to skip"}`,
			``, documents.List),
		typed(OpenDocument, "Read a document in its order: by pages, by lines, or from a passage on. Without any of them it begins at the start.",
			document+`,"from_page":{"type":"integer","minimum":1},"to_page":{"type":"integer","minimum":1},"from_line":{"type":"integer","minimum":1},"to_line":{"type":"integer","minimum":1},"from_passage":{"type":"integer","minimum":1}`,
			`"document"`, documents.Open),
		typed(GrepDocuments, "Find the passages that hold an exact text or a regular expression (RE2). Use it for identifiers, numbers and quotations.",
			`"pattern":{"type":"string","minLength":1,"maxLength":500},"regex":{"type":"boolean"},"ignore_case":{"type":"boolean"},"documents":{"type":"array","maxItems":50,"items":{"type":"string"},"description":"Ids or exact names. Default: all"}`,
			`"pattern"`, documents.Grep),
		typed(FileSummary, "Summarize a whole document, also a very long one.",
			document+`,"focus":{"type":"string","maxLength":1000,"description":"What the summary is for"}`,
			`"document"`, documents.Summarize),
	}
	set[len(set)-1].Limit = 10 * time.Minute // a long document needs many calls of the model
	if attached {
		set = append(set, typed(FileSearch, "Search the files that are attached to this conversation.",
			`"query":{"type":"string","minLength":1,"description":"What to look for, in full words"}`,
			`"query"`, func(ctx context.Context, c Call, a struct {
				Query string `json:"query"`
			}) (Output, error) {
				if len(a.Query) > MaxQuery {
					return Output{}, knowledge.Errorf(knowledge.CodeInvalid, "the query must have at most %d bytes", MaxQuery)
				}
				return documents.Search(ctx, c, a.Query)
			}))
	}
	return set
}

// typed returns a tool whose arguments are read into a value. properties and required are
// parts of their schema.
func typed[A any](name, description, properties, required string, run func(context.Context, Call, A) (Output, error)) Tool {
	return Tool{
		Name: name, Description: description,
		Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`),
		Run: func(ctx context.Context, c Call) (Output, error) {
			var arguments A
			if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil { // a number that no int is read from
				return Output{}, knowledge.Errorf(knowledge.CodeInvalid, "the arguments do not fit the schema of the tool")
			}
			return run(ctx, c, arguments)
		},
	}
}
