package api

import (
	"context"
	"encoding/json"

	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// openaiRuns shows the runs of questions to package openai.
type openaiRuns struct {
	store  Runs
	blobs  Blobs
	events *eventRoutes
	runs   *runRoutes
}

// Follow implements openai.Runs.
func (o *openaiRuns) Follow(ctx context.Context, run store.Run, alive func() error, emit func(stream.Item) error) error {
	ctx, release := o.events.leases.hold(ctx)
	defer release()
	if err := o.events.follower.follow(ctx, runRef(run), alive, emit); err != nil {
		return endOf(ctx, err)
	}
	return nil
}

// Readable implements openai.Runs.
func (o *openaiRuns) Readable(ctx context.Context, p knowledge.Principal, id string) (knowledge.Principal, store.Run, error) {
	run, err := o.store.Run(ctx, p, id)
	if err != nil {
		return p, run, err
	}
	p, err = o.events.readers.asReader(ctx, p, run)
	return p, run, err
}

// Request implements openai.Runs.
func (o *openaiRuns) Request(ctx context.Context, run store.Run) (knowledge.Request, error) {
	return record.ReadRequest(ctx, o.blobs, knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID})
}

// Links implements openai.Runs.
func (o *openaiRuns) Links(p knowledge.Principal, run store.Run) openai.Words {
	return o.events.results.views.fileLinks(p, run)
}

// Cancel implements openai.Runs.
func (o *openaiRuns) Cancel(ctx context.Context, p knowledge.Principal, id string) error {
	_, err := o.runs.cancelRun(ctx, p, &RunPath{ID: id})
	return err
}

// OpenStream implements openai.Runs.
func (o *openaiRuns) OpenStream() (release func(), err error) { return o.events.streams.open() }

// Outcome implements openai.Runs.
func (o *openaiRuns) Outcome(ctx context.Context, p knowledge.Principal, run store.Run, key string) (openai.Outcome, error) {
	found, err := (&renderer{results: o.events.results, reading: &reading{principal: p, run: run}}).load(ctx, key)
	if err != nil {
		return openai.Outcome{}, err
	}
	record := found.record
	out := openai.Outcome{Text: o.events.results.views.signFileLinks(p, run, record.Answer), Model: record.Model, ConversationID: record.ConversationID, FinishReason: record.FinishReason, Usage: record.Usage, Choices: record.Searches}
	for _, x := range o.events.results.views.sources(p, found) {
		out.Sources = append(out.Sources, openai.Citation{
			Rank: x.Rank, ChunkID: x.ChunkID, DocumentID: x.DocumentID, DocumentName: x.DocumentName, ExternalID: x.ExternalID, URL: x.URL,
			Text: x.Text, Score: x.Score, Heading: x.Heading, PageNumber: x.PageNumber, Used: x.UsedInResponse,
		})
	}
	for _, call := range record.ToolCalls {
		var given struct {
			Query string `json:"query"`
		}
		if openai.SearchesDocuments(call.Name) && json.Unmarshal([]byte(call.Arguments), &given) == nil && given.Query != "" {
			out.Searches = append(out.Searches, given.Query)
		}
	}
	return out, nil
}
