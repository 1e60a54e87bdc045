package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// chunkView is a passage, as the seed shows it, with its lines.
type chunkView struct {
	ID         string        `json:"id"`
	DocumentID string        `json:"document_id"`
	Text       string        `json:"text"`
	PageNumber *int          `json:"page_number" doc:"The page on which the passage begins, 1 = first; null if the document has no pages"`
	BBox       []chunkBox    `json:"bbox" doc:"[x1,y1,x2,y2] in PDF points, origin top left; one for each page"`
	PageSize   *pageSize     `json:"page_size" doc:"[width,height] of the first page in PDF points; each box has the size of its own page"`
	StartTime  *float64      `json:"start_time" doc:"For audio and video: the time in seconds"`
	EndTime    *float64      `json:"end_time"`
	Segments   []segmentView `json:"segments,omitempty" doc:"For audio and video: the time of each part of the text"`
	Heading    []string      `json:"heading,omitempty" doc:"The headings above the passage, outermost first"`
	Header     string        `json:"header,omitempty" doc:"For a part of a table: the names of its columns, in Markdown, below the caption of the table if there is one. The first part of the table has them in text too; later parts only here" example:"| Ship | Tons |\n| --- | --- |"`
	Place      string        `json:"place,omitempty" doc:"The sheet and the range of cells in a spreadsheet, such as Sales!A2:D41"`
	Lines      []chunkLine   `json:"lines" doc:"The lines of the passage. start and end are code points in text; hyphen: the page has a hyphen at the end of the line, which text omits"`
	Number     int           `json:"number,omitempty" doc:"Its place among the passages of the document, 1 = first: only in a list that is narrowed"`
	Superseded bool          `json:"superseded" doc:"The document has a newer version"`
	Metadata   chunkMetadata `json:"metadata"`
}

type chunkMetadata struct {
	Filename  string   `json:"filename"`
	Languages []string `json:"languages"`
	Modality  string   `json:"modality"`
}

// segmentView is a part of a passage that was said at a time.
type segmentView struct {
	Start     int     `json:"start" doc:"Position in text, in code points"`
	End       int     `json:"end"`
	StartTime float64 `json:"start_time" doc:"In seconds"`
	EndTime   float64 `json:"end_time"`
}

// chunkLine is a line of a passage with the size of its page.
type chunkLine struct {
	knowledge.Line
	PageSize *pageSize `json:"page_size" doc:"[width,height] of its page in PDF points"`
}

// chunkBox is one entry of a chunk's bbox list, as the seed shows it, with the
// size of its page.
type chunkBox struct {
	BBox       knowledge.Box `json:"bbox"`
	PageNumber int           `json:"page_number"`
	PageSize   *pageSize     `json:"page_size" doc:"[width,height] of its page in PDF points"`
}

type pageSize = [2]float64

// passageView is where a quotation is in a chunk.
type passageView struct {
	ID    string     `json:"id"`
	Found bool       `json:"found"`
	Start *int       `json:"start" doc:"Position in the chunk's text, in code points"`
	End   *int       `json:"end"`
	Boxes []chunkBox `json:"boxes"`

	StartTime *float64 `json:"start_time,omitempty" doc:"For audio and video: the time in seconds"`
	EndTime   *float64 `json:"end_time,omitempty"`
}

// chunkAnswer is a chunk, or with ?quote= a passage of it.
type chunkAnswer struct{ Body any }

// chunkRoutes holds the routes of passages.
type chunkRoutes struct {
	store Documents
	pages *documentPages
}

func (cr *chunkRoutes) mount(e *edge.Edge) {
	registry := e.OpenAPI().Components.Schemas
	schema := &huma.Schema{OneOf: []*huma.Schema{
		schemaOf[chunkView](registry), schemaOf[passageView](registry),
	}}
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-chunk", Method: http.MethodGet, Path: "/chunks/{chunk_id}", Summary: "Read a passage", Tags: []string{"documents"},
		Description: "With `quote`, the answer has the position of that quotation in the passage. White space, case and hyphens at line ends do not matter.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The passage, or with quote the position of the quotation", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
		}},
	}}, cr.getChunk)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-document-chunks", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/{id}/chunks", Summary: "List the passages of a document in order", Tags: []string{"documents"},
	}}, cr.listChunks)
}

// ChunkQuery names a passage.
type ChunkQuery struct {
	ID    string `path:"chunk_id" maxLength:"200"`
	Quote string `query:"quote" maxLength:"8000" doc:"A quotation to find in the passage"`
}

func (cr *chunkRoutes) getChunk(ctx context.Context, p knowledge.Principal, in *struct {
	edge.ActingQuery
	ChunkQuery
}) (*chunkAnswer, error) {
	return cr.passage(ctx, p, in.ChunkQuery)
}

// passage returns a passage that the principal may read, or the place of a quotation in it.
func (cr *chunkRoutes) passage(ctx context.Context, p knowledge.Principal, in ChunkQuery) (*chunkAnswer, error) {
	c, err := cr.store.Chunk(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read chunk %s: %w", in.ID, err)
	}
	if err := cr.pages.place(ctx, c.Document, &c.Chunk); err != nil {
		return nil, err
	}
	audit.Left(ctx, c.DocumentID)
	if in.Quote != "" {
		return &chunkAnswer{viewPassage(c.Chunk, in.Quote)}, nil
	}
	return &chunkAnswer{viewChunk(c)}, nil
}

func (cr *chunkRoutes) listChunks(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
	PageQuery
	ChunkParameters
}) (*listOutput[chunkView], error) {
	d, err := cr.store.Document(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", in.ID, err)
	}
	chunks, next, err := cr.chunksOf(ctx, p, d, in.ChunkParameters, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list chunks of document %s: %w", in.ID, err)
	}
	audit.Left(ctx, d.ID)
	return page(convert(chunks, func(c knowledge.Chunk) chunkView {
		view := viewChunk(store.ChunkView{Chunk: c, Document: d})
		if in.ChunkParameters != (ChunkParameters{}) {
			view.Number = c.Ordinal + 1
		}
		return view
	}), next), nil
}

// ChunkParameters choose passages of a document.
type ChunkParameters struct {
	ChunkID    string `query:"chunk_id" maxLength:"200" doc:"Only this passage, if it is of the version that is published"`
	From       int    `query:"from" minimum:"1" doc:"The number of the first passage. Default: 1"`
	PageNumber int    `query:"page_number" minimum:"1" doc:"Only passages on this page. A page of this list may have fewer entries than limit, or none, and yet a next_cursor"`
	Q          string `query:"q" maxLength:"200" doc:"Only passages that contain this text, whatever its case. A page of this list may have fewer entries than limit, or none, and yet a next_cursor"`
}

// chunksOf lists chunks of a document in their order, each with its place on the pages.
func (cr *chunkRoutes) chunksOf(ctx context.Context, p knowledge.Principal, d knowledge.Document, which ChunkParameters, page store.Page) ([]knowledge.Chunk, string, error) {
	if which.ChunkID != "" {
		return cr.onlyChunk(ctx, p, d, which.ChunkID)
	}
	query := store.ChunkQuery{From: which.From - 1, PageNumber: which.PageNumber, Page: page}
	wanted := strings.ToLower(strings.TrimSpace(which.Q))
	if wanted != "" || which.PageNumber > 0 {
		return cr.store.FindChunks(ctx, p, d.ID, query, func(c *knowledge.Chunk) (bool, error) {
			if !strings.Contains(strings.ToLower(c.Text), wanted) {
				return false, nil
			}
			err := cr.pages.place(ctx, d, c)
			return which.PageNumber == 0 || slices.ContainsFunc(c.Lines, func(l knowledge.Line) bool { return l.Page == which.PageNumber }), err
		})
	}
	chunks, next, err := cr.store.QueryChunks(ctx, p, d.ID, query)
	if err != nil {
		return nil, "", err
	}
	placed := make([]*knowledge.Chunk, len(chunks))
	for i := range chunks {
		placed[i] = &chunks[i]
	}
	return chunks, next, cr.pages.place(ctx, d, placed...)
}

// onlyChunk lists a chunk of the published version of a document, nothing if it is another one.
func (cr *chunkRoutes) onlyChunk(ctx context.Context, p knowledge.Principal, d knowledge.Document, id string) ([]knowledge.Chunk, string, error) {
	c, err := cr.store.Chunk(ctx, p, id)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeGone) || err == nil && (c.DocumentID != d.ID || c.Version != d.PublishedVersion) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if err := cr.pages.place(ctx, d, &c.Chunk); err != nil {
		return nil, "", err
	}
	return []knowledge.Chunk{c.Chunk}, "", nil
}

func viewChunk(c store.ChunkView) chunkView {
	view := chunkView{
		ID: c.ID, DocumentID: c.DocumentID, Text: c.Text, Lines: []chunkLine{}, Superseded: c.Superseded,
		Metadata: chunkMetadata{Filename: c.Document.Name, Languages: []string{c.Language}, Modality: cmp.Or(string(c.Modality), "text")},
		Heading:  c.HeadingPath, Header: tableHeader(c.Chunk), Place: c.Place,
	}
	view.StartTime, view.EndTime = seconds(c.Time)
	for _, x := range c.Speech {
		view.Segments = append(view.Segments, segmentView{x.Start, x.End, x.Time.Start, x.Time.End})
	}
	if c.Language == "" {
		view.Metadata.Languages = []string{"und"}
	}
	for _, l := range c.Lines {
		view.Lines = append(view.Lines, chunkLine{Line: l, PageSize: sizeOf(c.Chunk, l.Page)})
	}
	if view.BBox, view.PageNumber = chunkBoxes(c.Chunk); view.PageNumber != nil {
		view.PageSize = view.BBox[0].PageSize
	}
	return view
}

// tableHeader returns the header of the table of which a chunk is a part, with the caption
// that the chunk repeats. It returns "" if the chunk has no table.
func tableHeader(c knowledge.Chunk) string {
	begun := knowledge.HeaderIn(c.Text)
	switch {
	case c.Header == "":
		return begun
	case begun != "" && strings.HasPrefix(c.Text, begun): // Header is the caption alone
		return c.Header + "\n" + begun
	}
	return c.Header
}

// seconds returns where something begins and ends in audio or video, nil for a text.
func seconds(t knowledge.Seconds) (start, end *float64) {
	if t == (knowledge.Seconds{}) {
		return nil, nil
	}
	return &t.Start, &t.End
}

// chunkBoxes returns a chunk's boxes, one a page, and its first page.
func chunkBoxes(c knowledge.Chunk) (boxes []chunkBox, page *int) {
	boxes = viewBoxes(c, citation.Boxes(c))
	if len(boxes) > 0 {
		page = &boxes[0].PageNumber
	}
	return boxes, page
}

func viewBoxes(c knowledge.Chunk, boxes []citation.PageBox) []chunkBox {
	views := make([]chunkBox, 0, len(boxes))
	for _, b := range boxes {
		views = append(views, chunkBox{BBox: b.Box, PageNumber: b.Page, PageSize: sizeOf(c, b.Page)})
	}
	return views
}

// sizeOf is the size of a page that a chunk is on, nil if it is not known.
func sizeOf(c knowledge.Chunk, page int) *pageSize {
	for _, size := range c.Pages {
		if size.Page == page {
			return &pageSize{size.Width, size.Height}
		}
	}
	return nil
}

func viewPassage(c knowledge.Chunk, quote string) passageView {
	view := passageView{ID: c.ID, Boxes: []chunkBox{}}
	passage, ok := citation.Locate(c, quote)
	if !ok {
		return view
	}
	view.Found, view.Start, view.End = true, &passage.Start, &passage.End
	view.Boxes = viewBoxes(c, passage.Boxes)
	view.StartTime, view.EndTime = seconds(passage.Time)
	return view
}
