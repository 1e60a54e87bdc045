package answering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// reads calls a tool for a question, and returns what the model reads of its output.
func (f *fixture) reads(run knowledge.RunRef, name, arguments string) string {
	f.Helper()
	in := f.calls(run, model.ToolCall{ID: "a", Name: name, Arguments: arguments})
	output, err := do(f, f.Answering.CallTool, in)
	if err != nil {
		return step.Describe(err, knowledge.Failure{}).Message
	}
	loop := record.Loop{Turns: []record.Turn{{Key: in.Key, Outputs: []record.ToolOutput{output}}}}
	if output.Search != "" {
		loop.Searches = []string{output.Search}
	}
	_, err = do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
	f.Must(err)
	requests := f.Server.Requests()
	messages := requests[len(requests)-1].Messages
	return string(messages[len(messages)-1].Content)
}

// library returns a fixture with documents that some may read.
func library(t *testing.T) *fixture {
	f := newFixture(t)
	f.AnswerWith(func(d *answering.Dependencies) { d.Library = f.Store })
	f.Publish(f.Upload("pumps.txt", "Pump P7 costs 400 euros.\n\nIt weighs 12 kg.", func(nv *store.NewVersion) { nv.Tags = []string{"parts"} }))
	f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
	f.Publish(f.Upload("hidden.txt", "Pump P9 is a secret.", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"eve"}} }))
	return f
}

func TestFileTools(t *testing.T) {
	t.Parallel()
	parts := func(r *knowledge.Request) {
		r.Scope = knowledge.Filter{{Field: "tags", Type: "in", Value: []string{"parts"}}}
	}
	for name, tc := range map[string]struct {
		tool, arguments string
		has, hasNot     []string
		change          func(*knowledge.Request)
	}{
		"a list has what the principal may read":            {tool.ListDocuments, `{}`, []string{"pumps.txt", "apples.txt", "2 of 2"}, []string{"hidden"}, nil},
		"a list by a part of the name":                      {tool.ListDocuments, `{"name":"PUMP"}`, []string{"pumps.txt", "1 of 1"}, []string{"apples"}, nil},
		"a list within the tags of the project":             {tool.ListDocuments, `{}`, []string{"pumps.txt"}, []string{"apples"}, parts},
		"a list of the second page":                         {tool.ListDocuments, `{"offset":1}`, []string{"pumps.txt", "1 of 2"}, []string{"apples"}, nil},
		"a document is opened by its name":                  {tool.OpenDocument, `{"document":"pumps.txt"}`, []string{"400 euros", "source_1"}, []string{"secret"}, nil},
		"a hidden document is not opened":                   {tool.OpenDocument, `{"document":"hidden.txt"}`, []string{"no document"}, []string{"secret"}, nil},
		"nor by its id":                                     {tool.OpenDocument, `{"document":"` + knowledge.DocumentID("w", "p", "hidden.txt") + `"}`, []string{"no document"}, []string{"secret"}, nil},
		"a document out of the tags is not opened":          {tool.OpenDocument, `{"document":"apples.txt"}`, []string{"no document"}, []string{"autumn"}, parts},
		"a document without pages is not opened by pages":   {tool.OpenDocument, `{"document":"apples.txt","from_page":1}`, []string{"has no pages"}, nil, nil},
		"beyond the last passage there is none":             {tool.OpenDocument, `{"document":"apples.txt","from_passage":9}`, []string{"1 passages"}, []string{"autumn"}, nil},
		"a pattern is found where the principal may read":   {tool.GrepDocuments, `{"pattern":"P\\d","regex":true}`, []string{"P7", "1 passages of the 2"}, []string{"P9"}, nil},
		"a literal text is no expression":                   {tool.GrepDocuments, `{"pattern":"P."}`, []string{"0 passages"}, []string{"P7"}, nil},
		"case is ignored on request":                        {tool.GrepDocuments, `{"pattern":"APPLES","ignore_case":true}`, []string{"autumn"}, nil, nil},
		"a pattern that matches everything is refused":      {tool.GrepDocuments, `{"pattern":"x*","regex":true}`, []string{"matches everything"}, nil, nil},
		"a pattern in a document that cannot be read":       {tool.GrepDocuments, `{"pattern":"P9","documents":["hidden.txt"]}`, []string{"no document"}, []string{"secret"}, nil},
		"a search of attachments needs some":                {tool.FileSearch, `{"query":"apples"}`, []string{"no such tool"}, []string{"autumn"}, nil},
		"a list of a project that the question may not see": {tool.ListDocuments, `{}`, []string{"0 of 0"}, []string{"pumps"}, func(r *knowledge.Request) { r.Projects = []string{"other"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := library(t)
			var change []func(*knowledge.Request)
			if tc.change != nil {
				change = append(change, tc.change)
			}
			got := f.reads(f.Ask("what?", change...), tc.tool, tc.arguments)
			wantRead(t, got, tc.has, tc.hasNot)
		})
	}
}

// wantRead checks what the model has read of the answer to a tool call.
func wantRead(t *testing.T, got string, has, hasNot []string) {
	t.Helper()
	for _, part := range has {
		if !strings.Contains(got, part) {
			t.Errorf("the model reads no %q in %q", part, got)
		}
	}
	for _, part := range hasNot {
		if strings.Contains(got, part) {
			t.Errorf("the model reads %q in %q", part, got)
		}
	}
}

func TestListedNamesGoWithTheirDocuments(t *testing.T) {
	t.Parallel()
	f := library(t)
	run := f.Ask("what?")
	in := f.calls(run, model.ToolCall{ID: "a", Name: tool.ListDocuments, Arguments: `{}`})
	output, err := do(f, f.Answering.CallTool, in)
	f.Must(err)
	for _, key := range f.Keys("w/runs/" + run.Run + "/") {
		content, err := f.Blobs.Get(f.Ctx, key)
		f.Must(err)
		if strings.Contains(string(content), "pumps") {
			t.Errorf("%s holds the name of a document", key)
		}
	}
	hidden := knowledge.Access{Users: []string{"eve"}}
	_, err = f.Store.UpdateDocument(f.Ctx, activitytest.Manager(), knowledge.DocumentID("w", "p", "pumps.txt"), store.DocumentPatch{Access: &hidden})
	f.Must(err)
	loop := record.Loop{Searches: []string{output.Search}, Turns: []record.Turn{{Key: in.Key, Outputs: []record.ToolOutput{output}}}}
	_, err = do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
	f.Must(err)
	if sent := f.Sent(); strings.Contains(sent, "pumps.txt") || !strings.Contains(sent, "apples.txt") {
		t.Errorf("the model reads %q", sent)
	}
}

func TestFileSearch(t *testing.T) {
	t.Parallel()
	f := library(t)
	f.Publish(f.Upload("mine.txt", "My apples are green.", func(nv *store.NewVersion) { nv.ConversationID = new("c") }))
	run := f.Ask("what?", func(r *knowledge.Request) {
		r.Principal = knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "k", User: "ann", ConversationID: "c", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
		r.Scope = knowledge.Filter{{Field: "tags", Type: "in", Value: []string{"parts"}}}
	})
	got := f.reads(run, tool.FileSearch, `{"query":"apples"}`)
	if !strings.Contains(got, "green") || strings.Contains(got, "autumn") {
		t.Errorf("the model reads %q", got)
	}
}

func TestFileSummary(t *testing.T) {
	t.Parallel()
	f := library(t)
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "%d %s\n\n", i, strings.Repeat("word ", 190))
	}
	f.Publish(f.Upload("long.txt", text.String()))
	run := f.Ask("what?")
	in := f.calls(run, model.ToolCall{ID: "a", Name: tool.FileSummary, Arguments: `{"document":"long.txt","focus":"words"}`})
	f.Server.ScriptChat(modeltest.Text("First."), modeltest.Reply{Status: 503}, modeltest.Text("Second."), modeltest.Text("Third."), modeltest.Text("Both."), modeltest.Text("Both."))
	_, err := do(f, f.Answering.CallTool, in)
	if err == nil {
		t.Fatal("a call of the model has failed, and the tool has not")
	}
	before := len(f.Server.Requests())
	output, err := do(f, f.Answering.CallTool, in)
	f.Must(err)
	calls := len(f.Server.Requests()) - before
	if output.Words == "" || output.Usage.ModelCalls <= calls {
		t.Errorf("the second attempt made %d calls of %d: %+v", calls, output.Usage.ModelCalls, output)
	}
	if !strings.Contains(f.Sent(), "The summary is for: words") {
		t.Errorf("the model reads %.200q", f.Sent())
	}
}
