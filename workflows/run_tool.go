package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// PhaseData is the inline data of a tool_update event.
type PhaseData struct {
	Phase  string         `json:"phase"`
	Status string         `json:"status"`
	Data   map[string]any `json:"data,omitempty"`
}

// ToolStarted returns the first entry of a tool's log.
func ToolStarted(in AnswerInput) stream.Entry {
	if in.Web {
		return entry(stream.TopicToolUpdate, stream.Event{
			Ref: in.RequestKey(), Data: stream.Data(activities.WebUpdate{Phase: activities.PhaseWebSearch, Status: "started"}),
		})
	}
	return entry(stream.TopicToolUpdate, stream.Event{Data: stream.Data(PhaseData{Phase: "SEARCH_PREPARATION", Status: "started"})})
}

// RunTool runs rag_search or web_search as a contract of its own: one search, one answer.
func RunTool(ctx workflow.Context, in AnswerInput) error {
	in.SearchFirst, in.MaxToolTurns = true, 0
	a, err := newAnswer(ctx, in, "RunTool")
	if err != nil {
		return err
	}
	a.toolEvents = true
	a.log.Append(ToolStarted(in))
	if in.Web {
		err = a.answerFromWeb(ctx)
	} else {
		err = a.converse(ctx)
	}
	return a.finish(ctx, knowledge.KindTool, err)
}

// retrieved adds the events of the search and of the start of the answer.
func (a *answer) retrieved(r activities.SearchResult) {
	phase := func(p PhaseData) { a.log.add(stream.TopicToolUpdate, stream.Event{Data: stream.Data(p)}) }
	phase(PhaseData{Phase: "RETRIEVAL", Status: "completed", Data: map[string]any{"retrieved_count": r.Retrieved}})
	phase(PhaseData{Phase: "RERANKING", Status: "completed", Data: reranked(r)})
	phase(PhaseData{Phase: "COMPILING_RESULTS", Status: "started"})
}

// reranked returns the data of RERANKING. Without a reranker all candidates count as
// reranked. The order of a reranker that failed is that of the search, and the data says
// why.
func reranked(r activities.SearchResult) map[string]any {
	data := map[string]any{"initial_count": r.Retrieved, "reranked_count": r.Retrieved, "kept_count": r.Kept}
	if r.Reranking != nil {
		data["reranker"], data["reranked_count"] = r.Reranking.Reranker, r.Reranking.Ranked
		if r.Reranking.Failure != "" {
			data["failure"] = r.Reranking.Failure
		}
	}
	return data
}
