package activities_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// asked stores a question about apples and runs its first search.
func (f *fixture) asked(change ...func(*knowledge.Request)) activities.ModelCallInput {
	f.Helper()
	run := f.ask("apples", change...)
	search, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: run})
	f.must(err)
	return activities.ModelCallInput{RunRef: run, Turn: 1, Loop: activities.Loop{Found: search.Found}}
}

// sent returns the text of the messages of the last request to the model.
func (f *fixture) sent() string {
	f.Helper()
	requests := f.server.Requests()
	var all strings.Builder
	for _, m := range requests[len(requests)-1].Messages {
		all.WriteString(string(m.Content) + "\n")
	}
	return all.String()
}

// TestPassagesAreLookedUp changes documents between the search of a run and its
// model call.
func TestPassagesAreLookedUp(t *testing.T) {
	t.Parallel()
	two := func(f *fixture) (first, second activities.StepInput) {
		first, second = f.upload("first.txt", "apples apples of the first"), f.upload("second.txt", "apples of the second, which is longer")
		f.publish(first)
		f.publish(second)
		return first, second
	}
	kept := knowledge.ChunkID(knowledge.DocumentID("w", "p", "second.txt"), 1, 0)
	answered := `Both. <citation id="` + kept + `">[2]</citation>`
	for name, change := range map[string]func(f *fixture, d activities.StepInput){
		"a removed document": func(f *fixture, d activities.StepInput) { f.remove(d.Document) },
		"a document that is being removed": func(f *fixture, d activities.StepInput) {
			f.mark(d.Document)
		},
		"a document that the asker may no longer see": func(f *fixture, d activities.StepInput) {
			_, err := f.store.UpdateDocument(f.ctx, manager(), d.Document, store.DocumentPatch{Access: &knowledge.Access{Users: []string{"bob"}}})
			f.must(err)
		},
		"a new version that the asker may not see": func(f *fixture, d activities.StepInput) {
			f.publish(f.upload("first.txt", "other words", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"bob"}} }))
		},
	} {
		t.Run(name+" is left out, and its rank stays unused", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first, _ := two(f)
			in := f.asked()
			change(f, first)
			f.server.ScriptChat(modeltest.Text("Both. <source_1> <source_2>"))
			result, err := do(f, f.answering.CallModel, in)
			f.must(err)
			if sent := f.sent(); strings.Contains(sent, "of the first") || strings.Contains(sent, "first.txt") || !strings.Contains(sent, "<source_2 document=\"second.txt\">") {
				t.Errorf("the model was sent %s", sent)
			}
			f.want(result, answered, 0)
			in.Loop.Answer = result.Key
			f.end(in)
			var record activities.AnswerRecord
			f.must(f.blobs.GetJSON(f.ctx, in.AnswerKey(), &record))
			if len(record.Sources) != 1 || record.Sources[0].Rank != 2 || record.Sources[0].ChunkID != kept || !cmp.Equal(record.Used, []int{2}) {
				t.Errorf("sources %+v, used %v", record.Sources, record.Used)
			}
		})
	}

	t.Run("the model receives a passage of a version that was replaced meanwhile", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		two(f)
		f.must(f.store.AddRun(f.ctx, store.Run{ID: "under way", Workspace: "w", Kind: knowledge.KindQuery})) // it keeps old chunks
		in := f.asked()
		f.publish(f.upload("first.txt", "other words"))
		_, err := do(f, f.answering.CallModel, in)
		f.must(err)
		if sent := f.sent(); !strings.Contains(sent, "<source_1 document=\"first.txt\">\napples apples of the first\n") {
			t.Errorf("the model was sent %s", sent)
		}
	})

	t.Run("the passages of a record of an earlier version of Cairn are looked up too", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		_, second := two(f)
		in := f.asked()
		_, err := f.blobs.PutJSON(f.ctx, in.FirstSearchKey(), map[string]any{"retrieved": 2, "contexts": []map[string]any{
			{"rank": 1, "chunk_id": knowledge.ChunkID(second.Document, 1, 0), "document_id": second.Document, "document_name": "former name", "text": "former words", "score": 1},
		}})
		f.must(err)
		in.Loop = activities.Loop{Searches: []string{in.FirstSearchKey()}}
		_, err = do(f, f.answering.CallModel, in)
		f.must(err)
		if sent := f.sent(); strings.Contains(sent, "former") || !strings.Contains(sent, "<source_1 document=\"second.txt\">\napples of the second") {
			t.Errorf("the model was sent %s", sent)
		}
	})
}

// end ends the run of a question that has an answer.
func (f *fixture) end(in activities.ModelCallInput) {
	f.Helper()
	f.must(f.store.AddRun(f.ctx, store.Run{ID: in.Run, Workspace: in.Workspace, Kind: knowledge.KindQuery}))
	f.must(step(f, f.answering.FinishAnswer, activities.FinishAnswerInput{RunRef: in.RunRef, Loop: in.Loop, Status: knowledge.RunCompleted, Workflow: "AnswerQuery"}))
}

// TestRemovalLeavesNoWords scans everything that is stored for the words of a removed
// document, after searches of questions and of a tool call that found them.
func TestRemovalLeavesNoWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := f.upload("zanzibarnames.txt", "apples are called quixoticwords here")
	f.publish(d)
	in := f.asked()
	f.server.ScriptChat(modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"apples"}`}), modeltest.Text("So it is. <source_1>"))
	first, err := do(f, f.answering.CallModel, in)
	f.must(err)
	output, err := do(f, f.answering.CallTool, activities.ToolCallInput{RunRef: in.RunRef, Turn: 1, Key: first.Key})
	f.must(err)
	in.Turn, in.Loop.Searches = 2, append(in.Loop.Searches, output.Search)
	in.Loop.Turns = []activities.Turn{{Key: first.Key, Outputs: []activities.ToolOutput{output}}}
	second, err := do(f, f.answering.CallModel, in)
	f.must(err)
	if !strings.Contains(f.sent(), "quixoticwords") || len(f.holding("quixoticwords")) == 0 {
		t.Fatal("the words are nowhere to begin with")
	}
	in.Loop.Answer = second.Key
	f.end(in)
	f.remove(d.Document)
	for _, words := range []string{"quixoticwords", "zanzibarnames"} {
		if files := f.holding(words); len(files) != 0 {
			t.Errorf("%s stands in %v", words, files)
		}
	}
}

// holding returns the files that contain some words.
func (f *fixture) holding(words string) []string {
	f.Helper()
	var files []string
	f.must(filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(words)) {
			files = append(files, path)
		}
		return err
	}))
	return files
}
