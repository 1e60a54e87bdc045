package answering

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// Library reads documents as their readers see them. A document that the principal may not
// read is knowledge.CodeNotFound.
type Library interface {
	// Documents lists documents, newest first.
	Documents(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) (list []knowledge.Document, cursor string, err error)
	// Document returns one document.
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	// DocumentChunks lists the chunks of the published version in their order.
	DocumentChunks(ctx context.Context, p knowledge.Principal, document string, page store.Page) (chunks []knowledge.Chunk, cursor string, err error)
	// VersionFor returns a version of a document.
	VersionFor(ctx context.Context, p knowledge.Principal, document string, version int) (store.Version, error)
	// Attached returns the documents that are attached to the principal's conversation.
	Attached(ctx context.Context, p knowledge.Principal, projects []string) ([]string, error)
}

// The bounds of one call of the tools that read documents.
const (
	maxListed    = 50       // documents of a list
	maxOpened    = 40       // passages of a document
	maxOpenRunes = 48_000   // of these
	maxMatches   = 20       // passages with a pattern
	maxGrepped   = 64 << 20 // bytes that are searched for it
	grepTime     = 20 * time.Second
	maxReached   = 20_000 // documents that are looked at
)

// library reads documents.
type library struct {
	Blobs    step.Blobs
	Library  Library
	Tables   TableQuerier
	TempDir  string
	Log      *slog.Logger
	chats    *chats
	searches *searches
}

// fileTools reads documents for tool calls.
type fileTools struct{ *library }

// files returns the tools that read documents, none without a Library.
func (a *library) files(ctx context.Context, r knowledge.Request) (tool.Set, error) {
	if a.Library == nil {
		return nil, nil
	}
	attached, err := a.attached(ctx, r)
	if err != nil {
		return nil, err
	}
	f := fileTools{a}
	set := tool.NewDocuments(f, len(attached) > 0)
	tables, err := f.hasTables(ctx, r)
	if tables {
		set = append(set, tool.NewQueryTable(f.queryTable))
	}
	return set, err
}

// attached returns the ids of the documents that are attached to the conversation or to
// the question, of which the question may search those that its principal may read.
func (a *library) attached(ctx context.Context, r knowledge.Request) ([]string, error) {
	if r.Principal.ConversationID() == "" {
		return nil, nil
	}
	ids, err := a.Library.Attached(ctx, r.Principal.Reader(), r.Projects)
	if err != nil {
		return nil, fmt.Errorf("read the attachments: %w", err)
	}
	for _, id := range r.Attachments {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(r.Documents) > 0 {
		ids = slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(r.Documents, id) })
	}
	return ids, nil
}

// Search implements tool.Documents.
func (f fileTools) Search(ctx context.Context, c tool.Call, query string) (tool.Output, error) {
	ids, err := f.attached(ctx, c.Request)
	if err != nil {
		return tool.Output{}, err
	}
	if len(ids) == 0 {
		return tool.Output{}, knowledge.Errorf(knowledge.CodeNotFound, "nothing is attached to this conversation any more")
	}
	c.Request.Documents, c.Request.Scope = ids, nil
	return f.searches.searchForTool(ctx, c, query)
}

// List implements tool.Documents. It stores ids: names are words of documents, so they are
// read with the permission when the model gets them.
func (f fileTools) List(ctx context.Context, c tool.Call, l tool.Listing) (tool.Output, error) {
	return f.keep(ctx, c, func() (record.Search, error) {
		found, seen := record.Search{Listed: []string{}}, 0
		err := f.reach(ctx, c.Request, func(d knowledge.Document) bool {
			if !strings.Contains(strings.ToLower(d.Name), strings.ToLower(l.Name)) || l.Tag != "" && !slices.Contains(d.Tags, l.Tag) {
				return true
			}
			if seen++; seen > l.Offset && len(found.Listed) < maxListed {
				found.Listed = append(found.Listed, d.ID)
			}
			return true
		})
		found.Note = fmt.Sprintf("These are %d of %d documents, after the first %d.", len(found.Listed), seen, l.Offset)
		return found, err
	})
}

// Open implements tool.Documents.
func (f fileTools) Open(ctx context.Context, c tool.Call, p tool.Part) (tool.Output, error) {
	return f.keep(ctx, c, func() (record.Search, error) {
		d, err := f.resolve(ctx, c.Request, p.Document)
		if err != nil {
			return record.Search{}, err
		}
		chunks, err := f.chunks(ctx, c.Request, d.ID)
		if err != nil {
			return record.Search{}, err
		}
		if p.FromPage+p.ToPage > 0 && d.PageCount == 0 {
			return record.Search{}, knowledge.Errorf(knowledge.CodeInvalid, "the document has no pages; open it by lines, or from a passage on")
		}
		part := slices.DeleteFunc(slices.Clone(chunks), func(chunk knowledge.Chunk) bool { return !holds(p, chunk) })
		found, runes := record.Search{Retrieved: len(part)}, 0
		for i, chunk := range part {
			if runes += len([]rune(chunk.Text)); len(found.Passages) == maxOpened || i > 0 && runes > maxOpenRunes {
				found.Note = fmt.Sprintf("There is more: continue with from_passage %d.", chunk.Ordinal+1)
				break
			}
			if chunk.Parent == (knowledge.Span{}) || i == 0 || part[i-1].Parent != chunk.Parent { // a parent is read as a whole
				found.Passages = append(found.Passages, passageOf(chunk))
			}
		}
		found.Note = strings.TrimSpace(fmt.Sprintf("The document has %d passages and %d pages. %s", len(chunks), d.PageCount, found.Note))
		return found, nil
	})
}

// holds reports whether a part of a document holds some of a chunk.
func holds(p tool.Part, c knowledge.Chunk) bool {
	if c.Ordinal+1 < p.FromPassage {
		return false
	}
	if p.FromLine+p.ToLine > 0 && (c.Origin.Last < p.FromLine || p.ToLine > 0 && c.Origin.First > p.ToLine) {
		return false
	}
	return p.FromPage+p.ToPage == 0 || slices.ContainsFunc(c.Lines, func(l knowledge.Line) bool {
		return l.Page >= p.FromPage && (p.ToPage == 0 || l.Page <= p.ToPage)
	})
}

// Grep implements tool.Documents.
func (f fileTools) Grep(ctx context.Context, c tool.Call, p tool.Pattern) (tool.Output, error) {
	pattern, err := compilePattern(p)
	if err != nil {
		return tool.Output{}, err
	}
	return f.keep(ctx, c, func() (record.Search, error) {
		if len(p.Documents) > 0 {
			c.Request.Documents, err = f.resolveAll(ctx, c.Request, p.Documents)
			if err != nil {
				return record.Search{}, err
			}
		}
		return f.grep(ctx, c.Request, pattern)
	})
}

func compilePattern(p tool.Pattern) (*regexp.Regexp, error) {
	expression := p.Pattern
	if !p.Regex {
		expression = regexp.QuoteMeta(expression)
	}
	if p.IgnoreCase {
		expression = "(?i)" + expression
	}
	pattern, err := regexp.Compile("(?m)" + expression)
	if err != nil || pattern.MatchString("") {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the pattern is not a regular expression of RE2, or matches everything")
	}
	return pattern, nil
}

// grep looks for a pattern in every passage, within bounds.
func (f fileTools) grep(ctx context.Context, r knowledge.Request, pattern *regexp.Regexp) (record.Search, error) {
	found, searched, documents, end := record.Search{}, 0, 0, time.Now().Add(grepTime)
	var failed error
	err := f.reach(ctx, r, func(d knowledge.Document) bool {
		chunks, err := f.chunks(ctx, r, d.ID)
		if knowledge.IsCode(err, knowledge.CodeNotFound) { // removed meanwhile
			return true
		}
		if failed = err; err != nil {
			return false
		}
		documents++
		for _, chunk := range chunks {
			searched += len(chunk.Text)
			if !pattern.MatchString(chunk.Text) {
				continue
			}
			if found.Retrieved++; len(found.Passages) < maxMatches {
				found.Passages = append(found.Passages, passageOf(chunk))
			}
		}
		return searched < maxGrepped && time.Now().Before(end)
	})
	found.Note = fmt.Sprintf("The pattern is in %d passages of the %d documents that were searched; here are %d.", found.Retrieved, documents, len(found.Passages))
	if searched >= maxGrepped || !time.Now().Before(end) {
		found.Note += " Not all documents were searched: name some of them."
	}
	if failed != nil {
		err = failed
	}
	return found, err
}

func passageOf(c knowledge.Chunk) record.Passage {
	return record.Passage{ChunkID: c.ID, DocumentID: c.DocumentID, Version: c.Version, Span: c.Span, Score: 1}
}

// keep stores what a call found, unless an earlier attempt did.
func (f fileTools) keep(ctx context.Context, c tool.Call, find func() (record.Search, error)) (tool.Output, error) {
	found, err := kept(ctx, f.Blobs, c.SearchKey(c.Turn, c.Number), find)
	return tool.Output{Search: found.Key, Found: found.Kept}, err
}

// reach calls visit for each document that the question may search, newest first, until
// visit returns false.
func (f fileTools) reach(ctx context.Context, r knowledge.Request, visit func(knowledge.Document) bool) error {
	return f.reachKinds(ctx, r, nil, visit)
}

// reachKinds is reach for documents of some media types; without any it reaches all. Documents
// that the question names are visited whatever their type.
func (f fileTools) reachKinds(ctx context.Context, r knowledge.Request, kinds []string, visit func(knowledge.Document) bool) error {
	reader := r.Principal.Reader()
	if len(r.Documents) > 0 {
		for _, id := range r.Documents {
			d, err := f.Library.Document(ctx, reader, id)
			switch {
			case knowledge.IsCode(err, knowledge.CodeNotFound):
			case err != nil:
				return fmt.Errorf("read document %s: %w", id, err)
			case mayRead(r, d) && !visit(d):
				return nil
			}
		}
		return nil
	}
	projects, seen := r.Projects, 0
	if len(projects) == 0 {
		projects = []string{reader.Project()}
	}
	for _, project := range projects {
		query := store.DocumentQuery{Project: project, MediaTypes: kinds}
		for {
			list, cursor, err := f.Library.Documents(ctx, reader, query)
			if err != nil {
				return fmt.Errorf("list documents: %w", err)
			}
			for _, d := range list {
				if seen++; seen > maxReached || mayRead(r, d) && !visit(d) {
					return nil
				}
			}
			if query.Cursor = cursor; cursor == "" {
				break
			}
		}
	}
	return nil
}

// mayRead reports whether the question may search a document that its principal reads.
func mayRead(r knowledge.Request, d knowledge.Document) bool {
	return d.PublishedVersion > 0 && (len(r.Projects) == 0 || slices.Contains(r.Projects, d.Project)) &&
		(len(r.Documents) == 0 || slices.Contains(r.Documents, d.ID)) &&
		r.Filter.Matches(d) && (d.ConversationID != "" || r.Scope.Matches(d))
}

// resolve returns the document of an id or a name.
func (f fileTools) resolve(ctx context.Context, r knowledge.Request, named string) (knowledge.Document, error) {
	d, err := f.Library.Document(ctx, r.Principal.Reader(), named)
	if err == nil && mayRead(r, d) {
		return d, nil
	}
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return d, fmt.Errorf("read a document: %w", err)
	}
	found := false
	err = f.reach(ctx, r, func(one knowledge.Document) bool {
		if found = one.Name == named || one.ExternalID == named; found {
			d = one
		}
		return !found
	})
	if err == nil && !found {
		err = knowledge.Errorf(knowledge.CodeNotFound, "no document that can be searched has this id or name; %s lists them", tool.ListDocuments)
	}
	return d, err
}

func (f fileTools) resolveAll(ctx context.Context, r knowledge.Request, named []string) ([]string, error) {
	ids := make([]string, 0, len(named))
	for _, n := range named {
		d, err := f.resolve(ctx, r, n)
		if err != nil {
			return nil, err
		}
		ids = append(ids, d.ID)
	}
	return ids, nil
}

// chunks returns the chunks of a document in their order.
func (f fileTools) chunks(ctx context.Context, r knowledge.Request, document string) ([]knowledge.Chunk, error) {
	var all []knowledge.Chunk
	page := store.Page{Limit: 500}
	for {
		list, cursor, err := f.Library.DocumentChunks(ctx, r.Principal.Reader(), document, page)
		if err != nil {
			return nil, fmt.Errorf("read the passages of document %s: %w", document, err)
		}
		if all = append(all, list...); cursor == "" {
			return all, nil
		}
		page.Cursor = cursor
	}
}
