package api

import (
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// explanation is how the stages of a search ranked a chunk.
type explanation struct {
	Dense  *legRank `json:"dense" doc:"Rank in the vector search; null: not found by it"`
	BM25   *legRank `json:"bm25" doc:"Rank in the full-text search; null: not found by it"`
	Linked *legRank `json:"linked,omitempty" doc:"Rank among the documents that name an entity of the question (ai.retrieval.entities)"`
	Web    *legRank `json:"web,omitempty" doc:"Rank among the web pages (ai.retrieval.web)"`
	Fused  *float64 `json:"fused" doc:"The score of both searches, fused"`
	Rerank *float64 `json:"rerank" doc:"The score of the reranker; null: not reranked"`
	Source string   `json:"source,omitempty" enum:"documents,files,web" doc:"The origin of the chunk: documents of the project, files of the conversation, or the web"`
}

// legRank is the rank of a chunk in one leg.
type legRank struct {
	Rank  int     `json:"rank" doc:"1 = first"`
	Score float64 `json:"score" doc:"The cosine similarity (vector search) or the BM25 score (full-text search)"`
}

// droppedChunk is a candidate that is not among the results.
type droppedChunk struct {
	ID           string              `json:"id"`
	DocumentID   string              `json:"documentId"`
	DocumentName string              `json:"documentName"`
	Reason       retrieve.DropReason `json:"reason" doc:"Why the chunk was dropped. duplicate: it repeats a better chunk. same_parent: it is contained in the parent of a better chunk. minScore: its score is below ai.retrieval.minScore. numberOfChunks: there were enough better chunks. perDocument: there were enough chunks of its document. neighbour: it is included as the neighbour of a better chunk. contextTokens: it does not fit. compress: none of its sentences is relevant"`
	URL          string              `json:"url,omitempty" doc:"The URL of a web page"`
	Explain      *explanation        `json:"explain"`
}

// explain returns the rankings of a chunk, nil if the search was not to be explained.
func explain(trace *retrieve.Trace, chunk string) *explanation {
	if trace == nil {
		return nil
	}
	r, ok := trace.Rankings[chunk]
	if !ok {
		return &explanation{}
	}
	return &explanation{Dense: viewRank(r.Dense), BM25: viewRank(r.BM25), Linked: viewRank(r.Linked), Web: viewRank(r.Web), Fused: r.Fused, Rerank: r.Rerank}
}

func viewRank(r *retrieve.LegRank) *legRank {
	if r == nil {
		return nil
	}
	return &legRank{Rank: r.Rank, Score: r.Score}
}

// viewDropped returns the candidates that were dropped, nil if the search was not to be
// explained.
func viewDropped(trace *retrieve.Trace) *[]droppedChunk {
	if trace == nil {
		return nil
	}
	list := make([]droppedChunk, 0, len(trace.Dropped))
	for _, d := range trace.Dropped {
		one := droppedChunk{
			ID: d.Chunk.ID, DocumentID: d.Chunk.DocumentID, DocumentName: d.Chunk.Document.Name, Reason: d.Reason, URL: d.URL(), Explain: explain(trace, d.Chunk.ID),
		}
		if one.URL != "" {
			one.ID = ""
		}
		list = append(list, one)
	}
	return &list
}
