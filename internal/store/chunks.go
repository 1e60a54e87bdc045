package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// chunkStore has the chunks of versions.
type chunkStore struct{ *database }

// ChunkView is a chunk as a reader sees it, with its document. Superseded says
// that the document has a newer version by now.
type ChunkView struct {
	knowledge.Chunk
	Document   knowledge.Document
	Superseded bool
}

type chunkRow struct {
	bun.BaseModel `bun:"table:chunks,alias:c"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	DocumentID    string `bun:"document_id"`
	Version       int    `bun:"version"`
	Ordinal       int    `bun:"ordinal"`
	SpanStart     int    `bun:"span_start"`
	SpanEnd       int    `bun:"span_end"`
	Language      string `bun:"language"`
	HeadingPath   string `bun:"heading_path"`
	Header        string `bun:"header"`
	Lines         string `bun:"lines"`
	Pages         string `bun:"pages"`
	FirstLine     int    `bun:"first_line"`
	LastLine      int    `bun:"last_line"`
	Body          string `bun:"body"`

	Place       string  `bun:"place"`
	StartTime   float64 `bun:"start_time"`
	EndTime     float64 `bun:"end_time"`
	Speech      string  `bun:"speech"`
	Modality    string  `bun:"modality"`
	Figures     string  `bun:"figures"`
	Context     string  `bun:"context"`
	Embedded    string  `bun:"embedded"`
	ParentStart int     `bun:"parent_start"`
	ParentEnd   int     `bun:"parent_end"`
}

func newChunkRow(ref knowledge.VersionRef, c knowledge.Chunk) (chunkRow, error) {
	row := chunkRow{
		ID: c.ID, Workspace: ref.Workspace, DocumentID: ref.Document, Version: ref.Version, Ordinal: c.Ordinal,
		SpanStart: c.Span.Start, SpanEnd: c.Span.End, Language: c.Language, Header: c.Header,
		Lines: string(c.Lines.Append(nil)), Pages: string(c.Pages.Append(nil)), Body: c.Text,
		FirstLine: c.Origin.First, LastLine: c.Origin.Last,
		Place: c.Place, StartTime: c.Time.Start, EndTime: c.Time.End, Speech: string(c.Speech.Append(nil)), Modality: string(c.Modality), Context: c.Context, Embedded: c.Embedded,
		ParentStart: c.Parent.Start, ParentEnd: c.Parent.End,
	}
	var err error
	if len(c.HeadingPath) > 0 {
		row.HeadingPath, err = encode(c.HeadingPath)
	}
	if err == nil && len(c.Figures) > 0 {
		row.Figures, err = encode(c.Figures)
	}
	return row, err
}

func (r *chunkRow) chunk() (knowledge.Chunk, error) {
	c := knowledge.Chunk{
		ID: r.ID, DocumentID: r.DocumentID, Version: r.Version, Ordinal: r.Ordinal, Text: r.Body,
		Span: knowledge.Span{Start: r.SpanStart, End: r.SpanEnd}, Header: r.Header, Language: r.Language,
		Origin: knowledge.Origin{First: r.FirstLine, Last: r.LastLine},
		Place:  r.Place, Time: knowledge.Seconds{Start: r.StartTime, End: r.EndTime}, Modality: knowledge.Modality(r.Modality),
		Context: r.Context, Embedded: r.Embedded, Parent: knowledge.Span{Start: r.ParentStart, End: r.ParentEnd},
	}
	err := decode(field{r.HeadingPath, &c.HeadingPath}, field{r.Figures, &c.Figures})
	if err == nil {
		c.Lines, err = knowledge.ParseLines(r.Lines)
	}
	if err == nil {
		c.Pages, err = knowledge.ParsePages(r.Pages)
	}
	if err == nil {
		c.Speech, err = knowledge.ParseSpeech(r.Speech)
	}
	if err != nil {
		return c, fmt.Errorf("decode chunk %s: %w", r.ID, err)
	}
	return c, nil
}

// ChunkQuery asks for chunks of a document. Zero fields ask for all.
type ChunkQuery struct {
	From       int // the ordinal of the first chunk
	PageNumber int // only chunks on this page, and those of which no page is stored
	Page
}

// DocumentChunks lists the chunks of a document's published version in their
// order, by the rule of Documents. A cursor does not outlive its version.
func (s *chunkStore) DocumentChunks(ctx context.Context, p knowledge.Principal, documentID string, page Page) ([]knowledge.Chunk, string, error) {
	return s.QueryChunks(ctx, p, documentID, ChunkQuery{Page: page})
}

// FindChunks lists those chunks of QueryChunks that keep chooses, and that it may change. A
// page may have fewer chunks than its limit, or none, and yet a cursor.
func (s *chunkStore) FindChunks(ctx context.Context, p knowledge.Principal, documentID string, query ChunkQuery, keep func(*knowledge.Chunk) (bool, error)) ([]knowledge.Chunk, string, error) {
	return findIn(query.Page, func(page Page) ([]knowledge.Chunk, string, error) {
		query.Page = page
		return s.QueryChunks(ctx, p, documentID, query)
	}, keep, func(c knowledge.Chunk) position { return position{List: chunkList(c.Version), Order: int64(c.Ordinal)} })
}

// chunkList names the list of the chunks of a version.
func chunkList(version int) string { return fmt.Sprintf("chunks-%d", version) }

// QueryChunks is DocumentChunks for a part of the chunks.
func (s *chunkStore) QueryChunks(ctx context.Context, p knowledge.Principal, documentID string, query ChunkQuery) ([]knowledge.Chunk, string, error) {
	doc, err := s.readDocument(ctx, p, documentID)
	if err != nil {
		return nil, "", err
	}
	list := chunkList(doc.PublishedVersion)
	var rows []chunkRow
	q := s.reader.NewSelect().Model(&rows).
		Where("c.document_id = ? AND c.version = ? AND c.workspace = ?", doc.ID, doc.PublishedVersion, doc.Workspace)
	if query.From > 0 {
		q = q.Where("c.ordinal >= ?", query.From)
	}
	if query.PageNumber > 0 {
		q = q.Where("(c.pages = '' OR c.pages LIKE ?)", fmt.Sprintf("%%[%d,%%", query.PageNumber))
	}
	q, limit, err := inOrder(q, "c.ordinal", "ASC", list, query.Page)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list chunks of document %s: %w", documentID, failure(err))
	}
	rows, cursor := next(rows, limit, func(r chunkRow) position { return position{List: list, Order: int64(r.Ordinal)} })
	chunks, err := decodeRows(rows, (*chunkRow).chunk)
	return chunks, cursor, err
}

// Chunk returns one chunk, if the principal reaches its document or has the write
// scope. A chunk of an older version is returned while RetireChunks keeps it, and
// only if the principal reaches that version too. A chunk that was deleted, and that a
// conversation of the principal cites, is CodeGone. Any other is not found.
func (s *chunkStore) Chunk(ctx context.Context, p knowledge.Principal, id string) (ChunkView, error) {
	if err := requireWorkspace(p); err != nil {
		return ChunkView{}, err
	}
	var row chunkRow
	var doc documentRow
	there, err := found(s.reader.NewSelect().Model(&row).
		Join("JOIN documents AS d ON d.id = c.document_id").
		Where("c.id = ? AND c.workspace = ?", id, p.Workspace()).
		Where("d.removed = FALSE AND d.removing_upto = 0 AND c.version <= d.published_version").Scan(ctx))
	if err != nil {
		return ChunkView{}, fmt.Errorf("read chunk %s: %w", id, failure(err))
	}
	if !there {
		return ChunkView{}, s.missingChunk(ctx, p, id)
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return ChunkView{}, err
	}
	there, err = found(readable(s.reader.NewSelect().Model(&doc), p, m).Where("d.id = ?", row.DocumentID).Scan(ctx))
	switch {
	case err != nil:
		return ChunkView{}, fmt.Errorf("read the document of chunk %s: %w", id, failure(err))
	case !there:
		return ChunkView{}, knowledge.NotFound("chunk", id)
	}
	view := ChunkView{Superseded: row.Version < doc.PublishedVersion}
	if view.Superseded {
		ref := knowledge.VersionRef{Workspace: doc.Workspace, Project: doc.Project, Document: doc.ID, Version: row.Version}
		v, err := readVersion(ctx, s.reader, ref)
		if err != nil {
			return ChunkView{}, fmt.Errorf("read the version of chunk %s: %w", id, err)
		}
		seen, err := readableList(ctx, s.database, p, m, []Version{v})
		if err != nil {
			return ChunkView{}, err
		}
		if len(seen) == 0 {
			return ChunkView{}, knowledge.NotFound("chunk", id)
		}
	}
	if view.Document, err = doc.document(); err != nil {
		return view, err
	}
	view.Chunk, err = row.chunk()
	return view, err
}

// missingChunk returns the error for a chunk that does not exist: gone for the owner
// of a conversation that cites it, not found for everybody else.
func (s *chunkStore) missingChunk(ctx context.Context, p knowledge.Principal, id string) error {
	cited, err := owned(s.reader.NewSelect().Model((*conversationRow)(nil)), p).
		Where("EXISTS (SELECT 1 FROM message_chunks AS m WHERE m.chunk_id = ? AND m.workspace = c.workspace AND m.conversation_id = c.id)", id).
		Exists(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("look up citations of chunk %s: %w", id, failure(err))
	case cited:
		return knowledge.Errorf(knowledge.CodeGone, "the document of this passage was removed or replaced since the answer was given")
	}
	return knowledge.NotFound("chunk", id)
}

// ChunksForSystem returns the chunks [first, last) of a version, without a check of
// permission: for workers.
func (s *chunkStore) ChunksForSystem(ctx context.Context, ref knowledge.VersionRef, first, last int) ([]knowledge.Chunk, error) {
	var rows []chunkRow
	err := s.reader.NewSelect().Model(&rows).Where("c.document_id = ? AND c.version = ? AND c.workspace = ?", ref.Document, ref.Version, ref.Workspace).
		Where("c.ordinal >= ? AND c.ordinal < ?", first, last).OrderExpr("c.ordinal").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read chunks of document %s: %w", ref.Document, failure(err))
	}
	return decodeRows(rows, (*chunkRow).chunk)
}
