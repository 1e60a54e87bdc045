package answering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// Searching holds the activity that searches before the first model call.
type Searching struct {
	stepLog

	Blobs    step.Blobs
	searches *searches
}

// searches searches documents, and the web beside them.
type searches struct {
	Blobs     step.Blobs
	Retriever Retriever
	Chat      step.Chat // whose context bounds what is found
	Log       *slog.Logger
}

// SearchInput asks for passages for the question of a run.
type SearchInput struct {
	knowledge.RunRef
}

// maxInline is the largest number of passages that the first search returns in its result
// instead of in a blob. The history holds a copy for each model call, of up to 4 KB.
const maxInline = 20

// SearchKnowledge searches for passages that the run's principal may see, and returns
// or stores their ids. It does not repeat a stored search, nor a call of a model.
func (a *Searching) SearchKnowledge(ctx context.Context, in SearchInput) (record.SearchResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.searchFirst(ctx, in)
	if err != nil {
		return record.SearchResult{}, a.fail(ctx, in.RunRef, err)
	}
	return result, nil
}

func (a *Searching) searchFirst(ctx context.Context, in SearchInput) (record.SearchResult, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return record.SearchResult{}, err
	}
	key := in.FirstSearchKey()
	if c := request.Config.AI; c.Retrieval.NumberOfChunks > maxInline || c.AsksModel(request.FollowsUp()) { // what a model wrote is not for the history
		return a.searches.find(ctx, key, request, request.Question)
	}
	found, err := a.searches.retrieve(ctx, key, request, request.Question)
	if err != nil {
		return record.SearchResult{}, err
	}
	if !found.Choices.IsZero() { // the event of the choices names a blob
		return kept(ctx, a.Blobs, key, func() (record.Search, error) { return found, nil })
	}
	result := found.Result("")
	result.Found = &found
	return result, nil
}

// find searches and stores the result, unless an earlier attempt did.
func (a *searches) find(ctx context.Context, key string, request knowledge.Request, query string) (record.SearchResult, error) {
	return kept(ctx, a.Blobs, key, func() (record.Search, error) { return a.retrieve(ctx, key, request, query) })
}

// kept returns what is stored under key, or else what find returns, which it stores.
func kept(ctx context.Context, blobs step.Blobs, key string, find func() (record.Search, error)) (record.SearchResult, error) {
	var found record.Search
	err := blobs.GetJSON(ctx, key, &found)
	if err == nil {
		return found.Result(key), nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return record.SearchResult{}, fmt.Errorf("read search %s: %w", key, err)
	}
	if found, err = find(); err != nil {
		return record.SearchResult{}, err
	}
	if _, err := blobs.PutJSON(ctx, key, found); err != nil {
		return record.SearchResult{}, fmt.Errorf("store search %s: %w", key, err)
	}
	return found.Result(key), nil
}

// retrieve searches. The answers of models that the search asks are kept beside key.
func (a *searches) retrieve(ctx context.Context, key string, request knowledge.Request, query string) (record.Search, error) {
	// The query of a tool call stands alone: the model wrote it with the conversation.
	enhance := request.Config.AI.Enhances(request.FollowsUp()) && query == request.Question
	var web *knowledge.WebSearchConfig
	if request.Kind == knowledge.KindQuery { // other kinds search one source, or the web by themselves
		web = request.Config.WebSource()
	}
	found, err := a.Retriever.Retrieve(ctx, retrieve.Request{
		Web:     web,
		Enhance: enhance, SelfQuery: request.Config.AI.SelfQuery == knowledge.SelfQueryEnabled, History: request.History,
		Principal: request.Principal, Query: query, Projects: request.Projects, Documents: request.Documents,
		Filter: request.Filter, Scope: request.Scope, Config: a.withContextLimit(request.Config.AI), Model: request.Config.AI.Model, Failover: request.Config.AI.Failover, Memory: searchMemory{a.Blobs, key},
		Privacy: request.Config.Privacy,
	})
	if err != nil {
		return record.Search{}, fmt.Errorf("retrieve: %w", err)
	}
	for _, cause := range found.Causes {
		a.Log.WarnContext(ctx, "a stage of a search failed and was left out", "failures", found.Choices.Failures, "error", cause)
	}
	return newSearchRecord(found), nil
}

// searchMemory keeps the answers of models beside the blob of a search.
type searchMemory struct {
	blobs  step.Blobs
	search string // key of the search
}

func (m searchMemory) key(step string) string {
	return strings.TrimSuffix(m.search, ".json") + "-" + step + ".json"
}

// Recall implements retrieve.Memory.
func (m searchMemory) Recall(ctx context.Context, step string, v any) (bool, error) {
	err := m.blobs.GetJSON(ctx, m.key(step), v)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Keep implements retrieve.Memory.
func (m searchMemory) Keep(ctx context.Context, step string, v any) error {
	_, err := m.blobs.PutJSON(ctx, m.key(step), v)
	return err
}
