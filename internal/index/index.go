package index

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MaxLimit is the most hits that one query can give.
const MaxLimit = 2000

// Entry is one chunk as the index keeps it. All but ChunkID, Ordinal, Text and
// Vector are facts of the document's version: entries of one version carry the
// same, and those that were written last count for the whole version.
type Entry struct {
	ChunkID        string
	Workspace      string
	Project        string
	DocumentID     string
	Version        int
	Ordinal        int       // of the chunk in its version, 0 = first
	Text           string    // context + text, for full-text search
	Vector         []float32 // any length above 0; it is normalised when written. None: found by words only
	Tags           []string
	ACL            []string // access tokens; none: nobody finds it
	Language       string
	Classification string
	Name           string
	Metadata       map[string]any
	CreatedAt      time.Time
}

// Query says what may be found. Permission comes from the Principal: its
// workspace, its project if it is held to one, and its tokens.
type Query struct {
	Principal knowledge.Principal
	Projects  []string // empty = all that the principal covers
	Documents []string // empty = all
	Filter    knowledge.Filter
	Limit     int // 1..MaxLimit
}

// Attributes are the facts of a version that can change after it was written.
type Attributes struct {
	Tags           []string
	ACL            []string
	Classification string
	Metadata       map[string]any
}

// Index finds chunks. It is safe for concurrent use. Writes are visible to the
// queries that start after they return, and survive the end of the process.
//
// Dense and BM25 fail with CodeForbidden for a principal without tokens or
// without one of the query's projects, and with CodeInvalid for a filter or a
// limit that is wrong. They give hits best first, equal scores by chunk id.
type Index interface {
	// Upsert writes entries in one transaction. An entry that is there already
	// (same workspace, document, version and chunk) is replaced.
	Upsert(ctx context.Context, entries []Entry) error
	// Dense gives the entries whose vectors are nearest to vector, among those
	// of the same dimension. The score is the cosine.
	Dense(ctx context.Context, q Query, vector []float32) ([]knowledge.Hit, error)
	// BM25 gives the entries that share words with text, ranked by BM25. No
	// character of text is an operator. Text without a word gives no hits.
	BM25(ctx context.Context, q Query, text string) ([]knowledge.Hit, error)
	// RemoveVersions removes every entry of the document whose version is below
	// keep. It is idempotent.
	RemoveVersions(ctx context.Context, workspace, document string, keep int) error
	// RemoveDocument removes every entry of the document up to and including
	// version upto: vectors, words and tokens, so that nothing of them can be
	// read in the index's files any more. It is idempotent.
	RemoveDocument(ctx context.Context, workspace, document string, upto int) error
	// SetAttributes replaces the attributes of one version of the document. A
	// version without entries is none of its business.
	SetAttributes(ctx context.Context, workspace, document string, version int, a Attributes) error
	// Count gives the number of entries of each version of the document.
	Count(ctx context.Context, workspace, document string) (map[int]int, error)
	// Ping reports whether the index can be read.
	Ping(ctx context.Context) error
	// Close waits for what is under way. The index cannot be used after it.
	Close() error
}

// Check gives the error that a query deserves before an index looks at
// anything: forbidden for a principal that has no tokens or not the projects,
// invalid for a wrong filter or limit.
func (q Query) Check() error {
	p := q.Principal
	if p.Workspace() == "" || len(p.Tokens()) == 0 {
		return knowledge.Errorf(knowledge.CodeForbidden, "a search needs somebody for whom it is made; send a key or a token")
	}
	for _, project := range q.Projects {
		if !p.CoversProject(project) {
			return knowledge.Errorf(knowledge.CodeForbidden, "these credentials are for another project than %q", project)
		}
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		return knowledge.Errorf(knowledge.CodeInvalid, "a search can give between 1 and %d passages", MaxLimit)
	}
	if wrong := q.Filter.ConditionFields("filters"); len(wrong) > 0 {
		e := knowledge.Errorf(knowledge.CodeInvalid, "the filters are not right; see fields")
		e.Fields = wrong
		return e
	}
	return nil
}

// InProjects gives the projects to which the query is held, none = every
// project of the workspace.
func (q Query) InProjects() []string {
	if len(q.Projects) > 0 {
		projects := slices.Clone(q.Projects)
		slices.Sort(projects)
		return slices.Compact(projects)
	}
	if p := q.Principal.Project(); p != "" {
		return []string{p}
	}
	return nil
}
