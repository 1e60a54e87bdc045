package retrieve

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PassageFinder is a ChunkReader that knows whether there are passages at all.
type PassageFinder interface {
	// HasVisibleChunks reports whether the principal may read a passage of the projects (none = all
	// that it covers).
	HasVisibleChunks(ctx context.Context, p knowledge.Principal, projects []string) (bool, error)
}

// errLostIndex is for the log.
var errLostIndex = errors.New("the index finds no passage, but SQL has some: fill it with cairn rebuild-index")

// checkIndex returns an error if a search found nothing because the index has lost the passages. A
// search by vector finds the nearest passages, however far they are, so that nothing found means
// that there is nothing, or that the index is empty.
func (s *search) checkIndex(ctx context.Context) error {
	finder, ok := s.chunks.(PassageFinder)
	r := s.request
	if !ok || !s.searchesByVector() || s.choices.Failures["embeddings"] != "" || len(r.Filter)+len(r.Documents)+len(r.Scope)+len(s.choices.Filter) > 0 {
		return nil
	}
	there, err := finder.HasVisibleChunks(ctx, r.Principal, r.Projects)
	if err != nil {
		return fmt.Errorf("look for passages: %w", err)
	}
	if there {
		return &knowledge.Error{Code: knowledge.CodeUnavailable, Final: true, Cause: errLostIndex, Message: "The search index has lost the passages of the documents, so nothing can be found. Your question is kept; ask your administrator (code index_lost)."}
	}
	return nil
}
