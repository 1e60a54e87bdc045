package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// SearchInput asks for passages for the question of a run.
type SearchInput struct {
	knowledge.RunRef
}

// SearchResult counts the passages of a search and names its blob.
type SearchResult struct {
	Key       string `json:"key"`
	Retrieved int    `json:"retrieved"` // candidates of the index
	Kept      int    `json:"kept"`      // passages for the model
}

// SearchKnowledge searches for passages that the run's principal may see, and
// stores their ids. It does not repeat a stored search.
func (a *Answering) SearchKnowledge(ctx context.Context, in SearchInput) (SearchResult, error) {
	defer heartbeat(ctx)()
	request, err := ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return SearchResult{}, a.fail(ctx, in.RunRef, err)
	}
	result, err := a.find(ctx, in.FirstSearchKey(), request, request.Question)
	if err != nil {
		return SearchResult{}, a.fail(ctx, in.RunRef, err)
	}
	return result, nil
}

// find searches and stores the result, unless an earlier attempt did.
func (a *Answering) find(ctx context.Context, key string, request knowledge.Request, query string) (SearchResult, error) {
	var record SearchRecord
	err := a.Blobs.GetJSON(ctx, key, &record)
	if err == nil {
		return SearchResult{Key: key, Retrieved: record.Retrieved, Kept: len(record.Passages) + len(record.Contexts)}, nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return SearchResult{}, fmt.Errorf("read search %s: %w", key, err)
	}
	found, err := a.Retriever.Retrieve(ctx, retrieve.Request{
		Principal: request.Principal, Query: query, Projects: request.Projects, Documents: request.Documents,
		Filter: request.Filter, Config: request.Config.AI.Retrieval,
	})
	if err != nil {
		return SearchResult{}, fmt.Errorf("retrieve: %w", err)
	}
	record = newSearchRecord(found)
	if _, err := a.Blobs.PutJSON(ctx, key, record); err != nil {
		return SearchResult{}, fmt.Errorf("store search %s: %w", key, err)
	}
	return SearchResult{Key: key, Retrieved: record.Retrieved, Kept: len(record.Passages)}, nil
}
