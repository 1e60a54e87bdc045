package client

import (
	"context"
	"net/http"
)

// Finding is a place of personal data in a document, without the value.
type Finding struct {
	Entity     string  `json:"entity"`
	Page       *int    `json:"page_number"`
	Start      int     `json:"start"` // code points of the document's text
	End        int     `json:"end"`
	Score      float64 `json:"score"`
	Recogniser string  `json:"recogniser"`
}

// Counted is a document with how much personal data was found in it, by kind.
type Counted struct {
	DocumentID string         `json:"document_id"`
	Name       string         `json:"name"`
	Total      int            `json:"total"`
	Entities   map[string]int `json:"entities"`
}

// PersonalDataOfProject returns a page of the documents of a project with what was found in them.
func (c *Client) PersonalDataOfProject(ctx context.Context, project, cursor string, limit int) (List[Counted], error) {
	var list List[Counted]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("projects", project, "pii"), paging(cursor, limit), nil, &list)
	return list, err
}

// PersonalData returns a page of the personal data of a document.
func (c *Client) PersonalData(ctx context.Context, id, cursor string, limit int) (List[Finding], error) {
	var list List[Finding]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("documents", id, "pii"), paging(cursor, limit), nil, &list)
	return list, err
}
