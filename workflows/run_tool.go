package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RunTool runs rag_search or web_search as a contract of its own: one search, one answer.
func RunTool(ctx workflow.Context, in record.AnswerInput) error {
	in.SearchFirst, in.MaxToolTurns = true, 0
	a, err := newAnswer(ctx, in, "RunTool")
	if err != nil {
		return err
	}
	a.toolEvents = true
	a.log.Append(record.ToolStarted(in))
	if in.Web {
		err = a.answerFromWeb(ctx)
	} else {
		err = a.converse(ctx)
	}
	return a.finish(ctx, knowledge.KindTool, err)
}

// retrieved adds the events of the search and of the start of the answer.
func (a *answer) retrieved(r record.SearchResult) {
	phase := func(p record.PhaseData) { a.log.add(stream.TopicToolUpdate, stream.Event{Data: stream.Data(p)}) }
	phase(record.PhaseData{Phase: "RETRIEVAL", Status: "completed", Data: map[string]any{"retrieved_count": r.Retrieved}})
	phase(record.PhaseData{Phase: "RERANKING", Status: "completed", Data: reranked(r)})
	phase(record.PhaseData{Phase: "COMPILING_RESULTS", Status: "started"})
}

// reranked returns the data of RERANKING. Without a reranker all candidates count as
// reranked. The order of a reranker that failed is the order of the search, and the data says
// why.
func reranked(r record.SearchResult) map[string]any {
	data := map[string]any{"initial_count": r.Retrieved, "reranked_count": r.Retrieved, "kept_count": r.Kept}
	if r.Reranking != nil {
		data["reranker"], data["reranked_count"] = r.Reranking.Reranker, r.Reranking.Ranked
		if r.Reranking.Failure != "" {
			data["failure"] = r.Reranking.Failure
		}
	}
	return data
}
