package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Chunk is a passage of a document.
type Chunk struct {
	ID         string   `json:"id"`
	DocumentID string   `json:"document_id"`
	Text       string   `json:"text"`
	Page       int      `json:"page_number"` // 0 = a format without pages
	Boxes      Boxes    `json:"bbox"`        // one a page
	StartTime  *float64 `json:"start_time"`  // in seconds, of audio and video
	EndTime    *float64 `json:"end_time"`
	Heading    []string `json:"heading"` // outermost first
	Header     string   `json:"header"`  // of the table of which the passage is a part; the part with which it begins has it in Text too
	Place      string   `json:"place"`   // the sheet and range of cells of a spreadsheet
	Superseded bool     `json:"superseded"`
	Metadata   struct {
		Filename string `json:"filename"`
	} `json:"metadata"`
}

// Quotation is where a quotation stands in a chunk.
type Quotation struct {
	Found bool  `json:"found"`
	Start int   `json:"start"` // code points into the chunk's text
	End   int   `json:"end"`
	Boxes Boxes `json:"boxes"`
}

// Chunk returns a passage as the API shows it, or with a quotation, where that is in the
// passage. They are a Chunk and a Quotation.
func (c *Client) Chunk(ctx context.Context, id, quote string) (json.RawMessage, error) {
	query := url.Values{}
	setString(query, "quote", quote)
	var chunk json.RawMessage
	_, err := c.call(ctx, http.MethodGet, c.path("/chunks", []string{id}), query, nil, &chunk)
	return chunk, err
}

// maxPage bounds the picture of a page, in bytes.
const maxPage = 128 << 20

// Page returns the picture of a page of a document as PNG, 1 = first, in pixels of an inch,
// with boxes marked on it, which are in points from its top left.
func (c *Client) Page(ctx context.Context, document string, page, resolution int, boxes []knowledge.Box) ([]byte, error) {
	query := url.Values{"dpi": {strconv.Itoa(resolution)}}
	for _, b := range boxes {
		query.Add("box", fmt.Sprintf("%g,%g,%g,%g", b.X1, b.Y1, b.X2, b.Y2))
	}
	path := c.inWorkspace("documents", document, "pages", strconv.Itoa(page)+".png")
	res, err := c.send(ctx, http.MethodGet, path, query, nil, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if kind := res.Header.Get("Content-Type"); kind != "image/png" {
		return nil, c.notCairnError(http.MethodGet, path, kind)
	}
	picture, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	if err != nil {
		return nil, fmt.Errorf("read page %d of document %s: %w", page, document, err)
	}
	return picture, nil
}
