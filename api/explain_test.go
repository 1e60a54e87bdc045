package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestRetrieveContextExplains(t *testing.T) {
	t.Parallel()
	e := open(t)
	view := func(id string) store.ChunkView {
		return store.ChunkView{Chunk: knowledge.Chunk{ID: id, DocumentID: "d"}, Document: knowledge.Document{ID: "d", Name: "doc"}}
	}
	fused, poor := .7, .2
	e.work.contexts = []retrieve.Context{{ChunkView: view("a"), Rank: 1}}
	e.work.trace = &retrieve.Trace{
		Rankings: map[string]*retrieve.Ranking{
			"a": {Dense: &retrieve.LegRank{Rank: 2, Score: .9}, Fused: &fused},
			"b": {BM25: &retrieve.LegRank{Rank: 1, Score: 12}, Fused: &poor},
		},
		Dropped: []retrieve.Drop{{Chunk: view("b"), Reason: retrieve.DropMinScore}},
	}
	got := e.do("POST", hooks+"/retrieve-context?explain=true", e.reader, `{"text":"What?"}`).want(200)
	want := map[string]any{"dense": map[string]any{"rank": 2.0, "score": .9}, "bm25": nil, "fused": .7, "rerank": nil, "source": "documents"}
	if diff := cmp.Diff(want, got["chunks"].([]any)[0].(map[string]any)["explain"]); diff != "" {
		t.Error(diff)
	}
	dropped := []any{map[string]any{
		"id": "b", "documentId": "d", "documentName": "doc", "reason": "minScore",
		"explain": map[string]any{"dense": nil, "bm25": map[string]any{"rank": 1.0, "score": 12.0}, "fused": .2, "rerank": nil},
	}}
	if diff := cmp.Diff(dropped, got["dropped"]); diff != "" {
		t.Error(diff)
	}
	if !e.work.retrieved[0].Explain {
		t.Error("the retriever was not asked to explain")
	}

	override := `{"text":"What?","projectConfigOverride":{"ai":{"retrieval":{"strategy":"bm25","numberOfChunks":3}}}}`
	e.do("POST", hooks+"/retrieve-context?explain=true", e.reader, override).want(200)
	if r := e.work.retrieved[1].Config; r.Strategy != "bm25" || r.NumberOfChunks != 3 {
		t.Errorf("searched with %+v", r)
	}
	e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"What?","projectConfigOverride":{"ai":{"tags":["a"]}}}`).refused(422, knowledge.CodeInvalid)

	e.work.trace = nil
	plain := e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"What?"}`).want(200)
	if _, ok := plain["dropped"]; ok || plain["chunks"].([]any)[0].(map[string]any)["explain"] != nil || e.work.retrieved[2].Explain {
		t.Errorf("explained without being asked: %v", plain)
	}
}
