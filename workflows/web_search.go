package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The limits of one attempt of each step of a search of the web.
const (
	webSearchLimit = 30 * time.Second
	webPagesLimit  = time.Minute
	webRankLimit   = 2 * time.Minute
)

// answerFromWeb searches the web, reads and reranks the pages, and answers from them. Its
// events are references: the words are in the blobs of the steps.
func (a *answer) answerFromWeb(ctx workflow.Context) error {
	in := answering.WebInput{RunRef: a.in.RunRef}
	var found answering.WebStep
	if err := execute(activityOptions(ctx, "search the web", webSearchLimit, questionRetries()), a.acts.SearchWeb, in, &found); err != nil {
		return err
	}
	a.webUpdate(found.Key, record.WebSearched(found.Count))
	if found.Scrape && found.Count > 0 {
		a.webUpdate("", answering.ScrapeStarted(found.Count))
		var read answering.WebStep
		if err := execute(activityOptions(ctx, "read the pages", webPagesLimit, questionRetries()), a.acts.ReadPages, in, &read); err != nil {
			return err
		}
		a.webUpdate("", answering.ScrapeCompleted(read.Count, read.WithoutScripts))
	}
	a.webUpdate("", record.WebUpdate{Phase: record.PhaseReranking, Status: "started"})
	var ranked record.WebRanked
	if err := execute(activityOptions(ctx, "rerank the pages", webRankLimit, questionRetries()), a.acts.RankPages, in, &ranked); err != nil {
		return err
	}
	a.webUpdate("", answering.Reranked(ranked))
	a.webUpdate("", record.WebUpdate{Reranked: &ranked.Kept, OutputKey: "reranked_results"})
	a.webUpdate(ranked.Key, record.WebUpdate{OutputKey: "sources"})
	a.loop.Searches = append(a.loop.Searches, ranked.Key)
	a.loop.Usage.Add(ranked.Usage)
	a.webUpdate("", record.WebUpdate{Phase: record.PhaseGeneration, Status: "started"})
	if err := a.turns(ctx); err != nil {
		return err
	}
	a.webUpdate("", record.WebUpdate{Phase: record.PhaseGeneration, Status: "completed"})
	return nil
}

// webUpdate adds an event whose words are in the blob under key, "" = it has none.
func (a *answer) webUpdate(key string, u record.WebUpdate) {
	a.log.add(stream.TopicToolUpdate, stream.Event{Ref: key, Data: stream.Data(u)})
}
