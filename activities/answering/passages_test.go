package answering_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// TestPassagesAreLookedUp changes documents between the search of a run and its
// model call.
func TestPassagesAreLookedUp(t *testing.T) {
	t.Parallel()
	two := func(f *fixture) (first, second ingestion.StepInput) {
		first, second = f.Upload("first.txt", "apples apples of the first"), f.Upload("second.txt", "apples of the second, which is longer")
		f.Publish(first)
		f.Publish(second)
		return first, second
	}
	kept := knowledge.ChunkID(knowledge.DocumentID("w", "p", "second.txt"), 1, 0)
	answered := `Both. <citation id="` + kept + `">[2]</citation>`
	for name, change := range map[string]func(f *fixture, d ingestion.StepInput){
		"a removed document": func(f *fixture, d ingestion.StepInput) { f.Remove(d.Document) },
		"a document that is being removed": func(f *fixture, d ingestion.StepInput) {
			f.Mark(d.Document)
		},
		"a document that the asker may no longer see": func(f *fixture, d ingestion.StepInput) {
			_, err := f.Store.UpdateDocument(f.Ctx, activitytest.Manager(), d.Document, store.DocumentPatch{Access: &knowledge.Access{Users: []string{"bob"}}})
			f.Must(err)
		},
		"a new version that the asker may not see": func(f *fixture, d ingestion.StepInput) {
			f.Publish(f.Upload("first.txt", "other words", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"bob"}} }))
		},
	} {
		t.Run(name+" is left out, and its rank stays unused", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first, _ := two(f)
			in := f.Asked()
			change(f, first)
			f.Server.ScriptChat(modeltest.Text("Both. <source_1> <source_2>"))
			result, err := do(f, f.Answering.CallModel, in)
			f.Must(err)
			if sent := f.Sent(); strings.Contains(sent, "of the first") || strings.Contains(sent, "first.txt") || !strings.Contains(sent, "<source_2 document=\"second.txt\">") {
				t.Errorf("the model was sent %s", sent)
			}
			f.WantAnswer(result, answered, 0)
			in.Loop.Answer = result.Key
			f.end(in)
			var answer record.Answer
			f.Must(f.Blobs.GetJSON(f.Ctx, in.AnswerKey(), &answer))
			if len(answer.Sources) != 1 || answer.Sources[0].Rank != 2 || answer.Sources[0].ChunkID != kept || !cmp.Equal(answer.Used, []int{2}) {
				t.Errorf("sources %+v, used %v", answer.Sources, answer.Used)
			}
		})
	}

	t.Run("the model receives a passage of a version that was replaced meanwhile", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		two(f)
		f.Must(f.Store.AddRun(f.Ctx, store.Run{ID: "under way", Workspace: "w", Kind: knowledge.KindQuery})) // it keeps old chunks
		in := f.Asked()
		f.Publish(f.Upload("first.txt", "other words"))
		_, err := do(f, f.Answering.CallModel, in)
		f.Must(err)
		if sent := f.Sent(); !strings.Contains(sent, "<source_1 document=\"first.txt\">\napples apples of the first\n") {
			t.Errorf("the model was sent %s", sent)
		}
	})

	t.Run("the passages of a record of an earlier version of Cairn are looked up too", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		_, second := two(f)
		in := f.Asked()
		_, err := f.Blobs.PutJSON(f.Ctx, in.FirstSearchKey(), map[string]any{"retrieved": 2, "contexts": []map[string]any{
			{"rank": 1, "chunk_id": knowledge.ChunkID(second.Document, 1, 0), "document_id": second.Document, "document_name": "former name", "text": "former words", "score": 1},
		}})
		f.Must(err)
		in.Loop = record.Loop{Searches: []string{in.FirstSearchKey()}}
		_, err = do(f, f.Answering.CallModel, in)
		f.Must(err)
		if sent := f.Sent(); strings.Contains(sent, "former") || !strings.Contains(sent, "<source_1 document=\"second.txt\">\napples of the second") {
			t.Errorf("the model was sent %s", sent)
		}
	})
}

// end ends the run of a question that has an answer.
func (f *fixture) end(in answering.ModelCallInput) {
	f.Helper()
	f.Must(f.Store.AddRun(f.Ctx, store.Run{ID: in.Run, Workspace: in.Workspace, Kind: knowledge.KindQuery}))
	f.Must(act(f, f.Answering.FinishAnswer, answering.FinishAnswerInput{RunRef: in.RunRef, Loop: in.Loop, Status: knowledge.RunCompleted, Workflow: "AnswerQuery"}))
}

// TestRemovalLeavesNoWords scans everything that is stored for the words of a removed
// document, after searches of questions and of a tool call that found them.
func TestRemovalLeavesNoWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := f.Upload("zanzibarnames.txt", "apples are called quixoticwords here")
	f.Publish(d)
	in := f.Asked()
	f.Server.ScriptChat(modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"apples"}`}), modeltest.Text("So it is. <source_1>"))
	first, err := do(f, f.Answering.CallModel, in)
	f.Must(err)
	output, err := do(f, f.Answering.CallTool, answering.ToolCallInput{RunRef: in.RunRef, Turn: 1, Key: first.Key})
	f.Must(err)
	in.Turn, in.Loop.Searches = 2, append(in.Loop.Searches, output.Search)
	in.Loop.Turns = []record.Turn{{Key: first.Key, Outputs: []record.ToolOutput{output}}}
	second, err := do(f, f.Answering.CallModel, in)
	f.Must(err)
	if !strings.Contains(f.Sent(), "quixoticwords") || len(f.Holding("quixoticwords")) == 0 {
		t.Fatal("the words are nowhere to begin with")
	}
	in.Loop.Answer = second.Key
	f.end(in)
	f.Remove(d.Document)
	for _, words := range []string{"quixoticwords", "zanzibarnames"} {
		if files := f.Holding(words); len(files) != 0 {
			t.Errorf("%s stands in %v", words, files)
		}
	}
}
