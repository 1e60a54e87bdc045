package client

import (
	"context"
	"net/http"
)

// NewGeneration asks for a test set that is made of documents. Empty fields have the server's defaults.
type NewGeneration struct {
	ProjectID string           `json:"project_id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Count     int              `json:"count,omitempty"`
	Seed      uint64           `json:"seed,omitempty"`
	Model     string           `json:"model,omitempty"` // a chat model that writes the questions; "" = none
	Filter    GenerationFilter `json:"filter,omitzero"`
}

// GenerationFilter chooses documents.
type GenerationFilter struct {
	Tags        []string `json:"tags,omitempty"`
	DocumentIDs []string `json:"document_ids,omitempty"`
}

// Generation is a test set that was made, or with RunID the run in which a model makes it.
type Generation struct {
	TestSet
	RunID string `json:"run_id,omitempty"`
}

// GenerateTestSet makes a test set of documents, or starts the run in which a model makes it.
func (c *Client) GenerateTestSet(ctx context.Context, g NewGeneration) (Generation, error) {
	var made Generation
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("test_sets", "generate"), nil, g, &made)
	return made, err
}
