package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// DocumentQuery asks for documents. Empty fields ask for all; of several tags
// one is enough. Offset skips documents (paging by number) instead of a cursor.
type DocumentQuery struct {
	IDs     []string
	Project string
	Status  knowledge.Status
	Code    knowledge.Code // of the error, or of the failure for which a step waits
	Tags    []string
	// Conversation is the one that the documents are attached to.
	Conversation string
	ExternalID   string
	// Named asks for the documents that a person may mean by this text: an id or at least
	// its first shortestIDStart characters, an external id, or a name.
	Named    string
	Stage    knowledge.Stage
	Language string
	// MediaTypes are those of the files, without parameters; none = all.
	MediaTypes []string
	Outdated   *OutdatedFilter // nil = up to date or not
	Sort       DocumentOrder
	Page
	Offset int
}

// DocumentOrder is an order of a list of documents; "" = newest first.
type DocumentOrder string

// The other orders of lists of documents.
const (
	ByChange DocumentOrder = "updated" // changed last first
	BySize   DocumentOrder = "size"    // largest first
	ByName   DocumentOrder = "name"
)

// Documents lists documents, in the order of the query. The write and admin scopes see every
// document of their projects, others what their tokens reach once it is
// published, and what is one user's or one conversation's alone from its upload
// on.
func (s *documentStore) Documents(ctx context.Context, p knowledge.Principal, query DocumentQuery) ([]knowledge.Document, string, error) {
	if query.Offset < 0 {
		return nil, "", invalid("query.page", "must not be below 0")
	}
	var rows []documentRow
	q, err := s.queryDocuments(ctx, &rows, p, query)
	if err != nil {
		return nil, "", err
	}
	q, limit, err := query.ordered(q)
	if err != nil {
		return nil, "", err
	}
	if query.Offset > 0 {
		q = q.Offset(int64(query.Offset))
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list documents: %w", failure(err))
	}
	rows, cursor := next(rows, limit, query.position)
	list, err := decodeRows(rows, (*documentRow).document)
	return list, cursor, err
}

// ordered orders the documents of a query and cuts the page out, as newestFirst does.
func (query DocumentQuery) ordered(q *bun.SelectQuery) (*bun.SelectQuery, int, error) {
	column, direction, compare := "d.updated_at", "DESC", "<"
	switch query.Sort {
	case "":
		return newestFirst(q, "d", "documents", query.Page, defaultDocumentsLimit)
	case ByChange:
	case BySize:
		column = "d.bytes"
	case ByName:
		column, direction, compare = "d.name", "ASC", ">"
	default:
		return nil, 0, invalid("query.sort", "must be updated, size or name")
	}
	limit, err := query.limit(defaultDocumentsLimit)
	if err != nil {
		return nil, 0, err
	}
	at, ok, err := query.after("documents " + string(query.Sort))
	if err != nil {
		return nil, 0, err
	}
	if ok {
		value := any(at.Order)
		if query.Sort == ByName {
			value = at.Text
		}
		q = q.Where("(?, d.id) ? (?, ?)", bun.Ident(column), bun.Safe(compare), value, at.ID)
	}
	way := bun.Safe(direction)
	return q.OrderExpr("? ?, d.id ?", bun.Ident(column), way, way).Limit(int64(limit) + 1), limit, nil
}

// position returns where a page that ends with a document ended.
func (query DocumentQuery) position(r documentRow) position {
	switch query.Sort {
	case ByChange:
		return position{List: "documents updated", Order: r.UpdatedAt, ID: r.ID}
	case BySize:
		return position{List: "documents size", Order: r.Bytes, ID: r.ID}
	case ByName:
		return position{List: "documents name", Text: r.Name, ID: r.ID}
	}
	return position{List: "documents", Order: r.CreatedAt, ID: r.ID}
}

// CountDocuments returns how many documents Documents lists on all pages.
func (s *documentStore) CountDocuments(ctx context.Context, p knowledge.Principal, query DocumentQuery) (int, error) {
	q, err := s.queryDocuments(ctx, (*documentRow)(nil), p, query)
	if err != nil {
		return 0, err
	}
	n, err := q.Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count documents: %w", failure(err))
	}
	return int(n), nil
}

// queryDocuments begins a query of those documents that the principal may list.
func (s *documentStore) queryDocuments(ctx context.Context, model any, p knowledge.Principal, query DocumentQuery) (*bun.SelectQuery, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	if query.Project != "" && !p.CoversProject(query.Project) {
		return nil, knowledge.NotFound("project", query.Project)
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	q := s.reader.NewSelect().Model(model)
	if len(query.IDs) > 0 {
		return query.conditions(s.reader, readableIn(withinIDs(q, query.IDs, p), p, m))
	}
	return query.conditions(s.reader, readable(q, p, m))
}

func (query DocumentQuery) conditions(db *pool, q *bun.SelectQuery) (*bun.SelectQuery, error) {
	if query.Project != "" {
		q = q.Where("d.project = ?", query.Project)
	}
	if query.ExternalID != "" {
		q = q.Where("d.external_id = ?", query.ExternalID)
	}
	if query.Named != "" {
		q = query.named(q)
	}
	if query.Conversation != "" {
		q = q.Where("d.conversation_id = ? AND d.conversation_id <> ''", query.Conversation) // not '' for the index
	}
	if query.Code != "" {
		q = q.Where(db.statement("(CASE WHEN d.error <> '' THEN json_extract(d.error, '$.code') WHEN d.waiting <> '' AND d.status = 'pending' THEN json_extract(d.waiting, '$.code') END)")+" = ?", query.Code)
	}
	if query.Stage != "" {
		q = q.Where("d.stage = ?", query.Stage)
	}
	if query.Language != "" {
		q = q.Where("d.language = ?", query.Language)
	}
	if len(query.MediaTypes) > 0 {
		q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			for _, kind := range query.MediaTypes {
				q = q.WhereOr("d.media_type = ?", kind).WhereOr("d.media_type LIKE ?", kind+";%")
			}
			return q
		})
	}
	if len(query.Tags) > 0 {
		q = q.Where("EXISTS (SELECT 1 FROM document_tags AS g WHERE g.document_id = d.id AND g.tag IN (?))", bun.List(query.Tags))
	}
	if query.Outdated != nil {
		q = query.Outdated.where(q)
	}
	switch query.Status {
	case "":
	case knowledge.StatusDeleting:
		q = q.Where("d.removing_upto > 0")
	case knowledge.StatusInactive:
		q = q.Where("d.removing_upto = 0 AND d.inactive = TRUE")
	case knowledge.StatusPending, knowledge.StatusPublished, knowledge.StatusError:
		q = q.Where("d.removing_upto = 0 AND d.inactive = FALSE AND d.status = ?", query.Status)
	default:
		return nil, invalid("query.status", "must be pending, published, error, inactive or deleting")
	}
	return q, nil
}

// shortestIDStart is the smallest number of characters by which an id can be named.
const shortestIDStart = 4

func (query DocumentQuery) named(q *bun.SelectQuery) *bun.SelectQuery {
	start, end := query.Named, query.Named // no id
	if len(start) >= shortestIDStart && strings.Trim(start, "0123456789abcdef-") == "" {
		end += "g" // after each character of an id
	}
	return q.Where("(d.external_id = ? OR d.name = ? OR d.id = ? OR d.id >= ? AND d.id < ?)", query.Named, query.Named, query.Named, start, end)
}

// Document returns one document, by the rule of Documents.
func (s *documentStore) Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error) {
	row, err := s.readDocument(ctx, p, id)
	if err != nil {
		return knowledge.Document{}, err
	}
	return row.document()
}

// anyDocument and visibleDocument are readable, for the document ?4.
var (
	anyDocument     = inScope("d") + " AND d.id = ?4 AND " + manageable(tokens3)
	visibleDocument = inScope("d") + " AND d.id = ?4 AND " + visible(tokens3)
)

func (s *database) readDocument(ctx context.Context, p knowledge.Principal, id string) (*documentRow, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	var row documentRow
	query := visibleDocument
	if p.Can(knowledge.ScopeWrite) {
		query = anyDocument
	}
	there, err := documentTable.first(ctx, s.reader, &row, query, p.Workspace(), p.Project(), m.list(), id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read document %s: %w", id, failure(err))
	case !there:
		return nil, knowledge.NotFound("document", id)
	}
	return &row, nil
}

// UnsearchableDocuments returns the documents among ids in which a search of projects finds nothing:
// none of their versions is published, they are inactive, or of another project. Empty projects
// means all. The caller has checked that the principal reaches them.
func (s *documentStore) UnsearchableDocuments(ctx context.Context, p knowledge.Principal, ids, projects []string) ([]knowledge.Document, error) {
	if err := requireWorkspace(p); err != nil || len(ids) == 0 {
		return nil, err
	}
	var rows []documentRow
	q := s.reader.NewSelect().Model(&rows).Where("d.id IN (?) AND d.workspace || '' = ? AND d.removed = FALSE AND d.removing_upto = 0", bun.List(ids), p.Workspace())
	if len(projects) == 0 {
		q = q.Where("(d.published_version = 0 OR d.inactive = TRUE)")
	} else {
		q = q.Where("(d.published_version = 0 OR d.inactive = TRUE OR d.project || '' NOT IN (?))", bun.List(projects))
	}
	if err := q.OrderExpr("d.id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("look for documents without text to search: %w", failure(err))
	}
	return decodeRows(rows, (*documentRow).document)
}

// UnreachedDocuments returns the documents among ids that the principal's tokens do not reach,
// whatever its scopes, in the order of ids. Unpublished documents are reached by the user
// or the conversation that they belong to and, as inactive ones, with the write scope.
func (s *documentStore) UnreachedDocuments(ctx context.Context, p knowledge.Principal, ids []string) ([]string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, nil
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	var reachedIDs []string
	condition := visible("?0")
	if p.Can(knowledge.ScopeWrite) {
		condition = "d.removing_upto = 0 AND " + manageable("?0") + " AND " + admitted("?0")
	}
	q := withinIDs(s.reader.NewSelect().Model((*documentRow)(nil)).Column("d.id"), ids, p).Where(condition, m.bound())
	if err := q.Scan(ctx, &reachedIDs); err != nil {
		return nil, fmt.Errorf("check access to documents: %w", failure(err))
	}
	var missing []string
	there := make(map[string]bool, len(reachedIDs))
	for _, id := range reachedIDs {
		there[id] = true
	}
	for _, id := range ids {
		if !there[id] {
			missing = append(missing, id)
		}
	}
	return missing, nil
}
