package index

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MaxLimit is the largest number of hits of one query.
const MaxLimit = 2000

// Entry is one chunk in the index, with its vector of one generation: a chunk may have
// vectors of several. All fields but ChunkID, Ordinal, Text, Generation, Vector and
// ChunkLanguage belong to the document's version: entries of one version have the
// same values. SetAttributes changes those that may change.
type Entry struct {
	ChunkID        string
	Workspace      string
	Project        string
	DocumentID     string
	Version        int
	Ordinal        int       // of the chunk in its version, 0 = first
	Text           string    // chunk.EmbeddingText, for full-text search
	Generation     string    // of Vector: the name of its model and dimensions
	Vector         []float32 // of the length of its generation, normalised when written; none = found only by words
	Tags           []string
	ACL            []string // access tokens; none = found by nobody
	Language       string
	ChunkLanguage  string // by which the chunk is filtered; "" = Language
	Classification string
	Name           string
	Metadata       map[string]any
	CreatedAt      time.Time
}

// Query restricts the entries that may be found. Permission comes from the
// Principal: its workspace, its project if it has one, its tokens and the classifications that
// its clearance covers; and from its grants.
type Query struct {
	Principal knowledge.Principal
	// Granted opens entries that the tokens do not reach, and hides others.
	Granted   knowledge.Granted
	Projects  []string // empty = all that the principal may see
	Documents []string // empty = all
	Filter    knowledge.Filter
	// Generation is the one whose entries are found: Dense compares no vector of another
	// one, and BM25 finds each chunk once. If only some of the projects have entries of it,
	// BM25 may find entries of the others or not.
	Generation string
	Limit      int // 1..MaxLimit
}

// Attributes are the fields of a version that may change after it was written.
type Attributes struct {
	Tags           []string
	ACL            []string
	Classification string
	Metadata       map[string]any
}

// Index finds chunks. It is safe for concurrent use. Queries that start after a
// write has returned see it, and it survives the end of the process.
//
// Dense and BM25 return CodeForbidden for a principal without tokens, or that
// may not see one of the query's projects, and CodeInvalid for a wrong filter
// or limit. They return hits best first, equal scores ordered by chunk id. Which
// of more entries with equal scores than the limit are found, is left open.
//
// A failed call returns a *knowledge.Error if the index is a service: with
// CodeUnavailable if repeating the call can help.
//
// The vectors of a generation have one length, the length of its first one. Upsert and Dense
// return OtherLength for a vector of another length.
type Index interface {
	// Upsert writes entries, and replaces an entry with the same workspace,
	// document, version, chunk and generation. The entry of another generation stays,
	// if its text is the same. Until it has returned, queries may see a part
	// of the entries: the caller hides the version in SQL until then. Repeating a
	// failed Upsert completes it.
	Upsert(ctx context.Context, entries []Entry) error
	// Dense returns the entries whose vectors are nearest to vector, among
	// the entries of the query's generation. The score is the cosine. An approximate index
	// may miss some of the nearest.
	Dense(ctx context.Context, q Query, vector []float32) ([]knowledge.Hit, error)
	// BM25 returns the entries that share words with text, ranked by BM25. No
	// character of text is an operator. Text without words has no hits. The
	// weight of a word comes from the documents of the workspace, or of all
	// workspaces of the index.
	BM25(ctx context.Context, q Query, text string) ([]knowledge.Hit, error)
	// RemoveVersion removes every entry of one version of the document. It is
	// idempotent.
	RemoveVersion(ctx context.Context, workspace, document string, version int) error
	// RemoveVersions removes every entry of the document whose version is below
	// keep. It is idempotent.
	RemoveVersions(ctx context.Context, workspace, document string, keep int) error
	// RemoveDocument removes every entry of the document up to and including
	// version upto: vectors, words and tokens. No query finds them afterwards.
	// Their bytes are erased from the index's files, or the index is asked to
	// erase them soon. It is idempotent.
	RemoveDocument(ctx context.Context, workspace, document string, upto int) error
	// RemoveGeneration removes the vectors of a generation from the entries of a project.
	// The entries of other generations stay. It is idempotent.
	RemoveGeneration(ctx context.Context, workspace, project, generation string) error
	// SetAttributes replaces the attributes of one version of the document. It
	// does nothing if the version has no entries. The caller does not write or
	// remove the version at the same time.
	SetAttributes(ctx context.Context, workspace, document string, version int, a Attributes) error
	// Count returns the number of chunks of each version of the document.
	Count(ctx context.Context, workspace, document string) (map[int]int, error)
	// Ping returns an error if the index cannot be read.
	Ping(ctx context.Context) error
	// Close waits for running calls. The index cannot be used afterwards.
	Close() error
}

// Check returns CodeForbidden for a principal without tokens or that may not
// see the projects, and CodeInvalid for a wrong filter or limit. Indexes call
// it first.
func (q Query) Check() error {
	p := q.Principal
	if p.Workspace() == "" || len(p.Tokens()) == 0 {
		return knowledge.Errorf(knowledge.CodeForbidden, "a search needs a principal; send a key or a token")
	}
	for _, project := range q.Projects {
		if !p.CoversProject(project) {
			return knowledge.Errorf(knowledge.CodeForbidden, "these credentials are for another project than %q", project)
		}
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		return knowledge.Errorf(knowledge.CodeInvalid, "a search can return between 1 and %d passages", MaxLimit)
	}
	if wrong := q.Filter.ConditionFields("filters"); len(wrong) > 0 {
		e := knowledge.Errorf(knowledge.CodeInvalid, "the filters are not valid; see fields")
		e.Fields = wrong
		return e
	}
	return nil
}

// InProjects returns the projects to which the query is restricted, none = all
// projects of the workspace.
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
