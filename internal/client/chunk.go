package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
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
	Header     string   `json:"header"`  // of the table that the passage continues
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
