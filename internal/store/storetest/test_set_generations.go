package storetest

import (
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func generationProgress(f *fixture) {
	p := manager("acme")
	begun := knowledge.GenerationProgress{Model: "m", Wanted: 9, Dropped: map[string]int{}}
	run, err := f.StartGeneration(f.ctx, p, "handbook", "g", begun)
	f.must(err)
	again, err := f.StartGeneration(f.ctx, p, "handbook", "g", knowledge.GenerationProgress{})
	f.must(err)
	if run.Kind != knowledge.KindGenerate || run.Subject != "g" || string(again.Progress) != string(run.Progress) {
		f.Errorf("the run is %+v, and started again %+v", run, again)
	}
	_, err = f.StartGeneration(f.ctx, ofPress(), "handbook", "x", begun)
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.StartGeneration(f.ctx, p, "unknown", "x", begun)
	f.wantCode(err, knowledge.CodeNotFound)
	note := func(kept int) (noted knowledge.GenerationProgress, run store.Run) {
		f.must(f.NoteGeneration(f.ctx, "acme", "g", knowledge.GenerationProgress{Kept: kept, Dropped: map[string]int{"known": 2}, Usage: knowledge.Usage{PromptTokens: 7, ModelCalls: 1}}))
		run, err := f.Run(f.ctx, p, "g")
		f.must(err)
		f.must(json.Unmarshal(run.Progress, &noted))
		return noted, run
	}
	if noted, run := note(3); noted.Kept != 3 || noted.Dropped["known"] != 2 || len(run.Usage) == 0 {
		f.Errorf("noted is %+v, used %s", noted, run.Usage)
	}
	f.must(f.EndRun(f.ctx, "acme", "g", store.RunEnd{Status: knowledge.RunCompleted}))
	if noted, _ := note(5); noted.Kept != 3 {
		f.Errorf("behind the end it is %+v", noted)
	}
	_, err = f.Run(f.ctx, manager("other"), "g")
	f.wantCode(err, knowledge.CodeNotFound)
}

func answeredItems(f *fixture) {
	p := manager("acme")
	_, err := f.StartEvaluation(f.ctx, p, store.Evaluation{ID: "again", Project: "handbook", Items: 1, Request: json.RawMessage(`{}`)})
	f.must(err)
	f.must(f.BeginItems(f.ctx, "again", []store.Evaluated{{Number: 1, ItemID: "a", Repeat: 1, Item: json.RawMessage(`{}`), Run: "answer"}}))
	item, err := f.ItemForSystem(f.ctx, "again", 1)
	f.must(err)
	if item.Run != "answer" || item.State != knowledge.ItemWaiting {
		f.Errorf("the item is %+v", item)
	}
}
