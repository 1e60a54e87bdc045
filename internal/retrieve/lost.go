package retrieve

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PassageFinder is a ChunkReader that knows whether there are passages at all.
type PassageFinder interface {
	// DocumentWithChunks returns a document of the projects (none = all that the principal covers) with
	// a passage that the principal may read, "" if there is none.
	DocumentWithChunks(ctx context.Context, p knowledge.Principal, projects []string) (id string, err error)
}

// PassageCounter is an Index that counts the passages of a document, by its versions.
type PassageCounter interface {
	Count(ctx context.Context, workspace, document string) (map[int]int, error)
}

// errLostIndex is for the log.
var errLostIndex = errors.New("the index finds no passage, but SQL has some: fill it with cairn rebuild-index")

// checkIndex returns an error if a search by vector found nothing because the index is lost or empty:
// SQL has a document with passages that the principal may read, of which the index has none.
func (s *search) checkIndex(ctx context.Context) error {
	finder, finds := s.chunks.(PassageFinder)
	counter, counts := s.index.(PassageCounter)
	r := s.request
	if !finds || !counts || !s.searchesByVector() || s.choices.Failures["embeddings"] != "" || len(r.Filter)+len(r.Documents)+len(r.Scope)+len(s.choices.Filter) > 0 {
		return nil
	}
	document, err := finder.DocumentWithChunks(ctx, r.Principal, r.Projects)
	if err != nil || document == "" {
		return wrapped("look for passages", err)
	}
	versions, err := counter.Count(ctx, r.Principal.Workspace(), document)
	if err != nil || len(versions) > 0 {
		return wrapped("count the passages of a document", err)
	}
	return &knowledge.Error{Code: knowledge.CodeUnavailable, Final: true, Cause: errLostIndex, Message: "The search index has lost the passages of the documents, so nothing can be found. Your question is kept; ask your administrator (code index_lost)."}
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
