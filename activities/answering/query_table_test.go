package answering_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/sqltable"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// queries runs queries in this process.
type queries struct{ before func() }

func (q queries) Query(ctx context.Context, path, sql string) (sqltable.Result, error) {
	if q.before != nil {
		q.before()
	}
	return sqltable.Run(ctx, path, sql)
}

// spreadsheets returns a fixture with tables that some may read, and a question that may
// query them.
func spreadsheets(t *testing.T, q queries) (*fixture, func(*knowledge.Request)) {
	f := newFixture(t)
	f.AnswerWith(func(d *answering.Dependencies) { d.Library, d.Tables, d.TempDir = f.Store, q, t.TempDir() })
	contents := map[string]string{
		"sales.csv":  "region,amount\nNorth,1.50\nSouth,2.25\nNorth,4.00\n",
		"hidden.csv": "region,amount\nSecret,99.00\nSecret,1.00\n",
		"off.csv":    "region,amount\nOff,7.00\nOff,8.00\n",
	}
	f.Parser.Read = func(in extract.Input) (format.Result, error) {
		return format.Result{Layout: knowledge.Layout{MediaType: extract.TypeCSV, Blocks: table.Read(contents[in.Name], ',')}}, nil
	}
	for name, text := range contents {
		f.Publish(f.Upload(name, text, func(nv *store.NewVersion) {
			nv.MediaType, nv.Enrichment.Tables = extract.TypeCSV, name != "off.csv"
			if name == "hidden.csv" {
				nv.Access = &knowledge.Access{Users: []string{"eve"}}
			}
		}))
	}
	return f, func(r *knowledge.Request) { r.Config.AI.Tables = true }
}

func TestQueryTable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments   string
		has, hasNot []string
		change      func(*knowledge.Request)
	}{
		"tables are described":                     {`{}`, []string{"source_1", "Table sales: 3 rows, lines 2 to 4", "amount: decimal", "| 2 | North | 1.5 |", "1 of 1"}, []string{"Secret", "hidden", "Off"}, nil},
		"those of one document":                    {`{"document":"sales.csv"}`, []string{"Table sales"}, nil, nil},
		"a query is answered":                      {`{"document":"sales.csv","sql":"SELECT region, sum(amount) AS s FROM sales GROUP BY region"}`, []string{"source_1", "From lines 2 to 4", "| North | 5.5 |"}, []string{"1.50"}, nil},
		"a hidden document is not queried":         {`{"document":"hidden.csv","sql":"SELECT * FROM hidden"}`, []string{"no document"}, []string{"Secret"}, nil},
		"nor by its id":                            {`{"document":"` + knowledge.DocumentID("w", "p", "hidden.csv") + `","sql":"SELECT * FROM hidden"}`, []string{"no document"}, []string{"Secret"}, nil},
		"nor described":                            {`{"document":"hidden.csv"}`, []string{"no document"}, []string{"Secret"}, nil},
		"one without tables says so":               {`{"document":"off.csv","sql":"SELECT * FROM off"}`, []string{"has no tables"}, []string{"7"}, nil},
		"a mistake is explained":                   {`{"document":"sales.csv","sql":"SELECT missing FROM sales"}`, []string{"was not run", "no such column"}, []string{"North"}, nil},
		"a change is refused":                      {`{"document":"sales.csv","sql":"DELETE FROM sales"}`, []string{"was not run", "only a SELECT"}, nil, nil},
		"a query names its document":               {`{"sql":"SELECT * FROM sales"}`, []string{"Name the document"}, []string{"North"}, nil},
		"without the setting there is no tool":     {`{}`, []string{"no such tool"}, []string{"Table"}, func(r *knowledge.Request) { r.Config.AI.Tables = false }},
		"nor where the reader may read no table":   {`{}`, []string{"no such tool"}, []string{"Table"}, func(r *knowledge.Request) { r.Documents = []string{knowledge.DocumentID("w", "p", "hidden.csv")} }},
		"documents that the question names decide": {`{}`, []string{"Table sales"}, nil, func(r *knowledge.Request) { r.Documents = []string{knowledge.DocumentID("w", "p", "sales.csv")} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, tables := spreadsheets(t, queries{})
			change := []func(*knowledge.Request){tables}
			if tc.change != nil {
				change = append(change, tc.change)
			}
			got := f.reads(f.Ask("what?", change...), tool.QueryTable, tc.arguments)
			wantRead(t, got, tc.has, tc.hasNot)
		})
	}
}

const sumByRegion = `{"document":"sales.csv","sql":"SELECT region, sum(amount) AS s, min(_row) AS first_row, max(_row) AS last_row FROM sales WHERE region = 'North' GROUP BY region"}`

func TestRowsAreCited(t *testing.T) {
	t.Parallel()
	f, tables := spreadsheets(t, queries{})
	output, err := do(f, f.Answering.CallTool, f.calls(f.Ask("what?", tables), model.ToolCall{ID: "a", Name: tool.QueryTable, Arguments: sumByRegion}))
	f.Must(err)
	sources, err := record.Chosen{Searches: []string{output.Search}}.Sources(f.Ctx, f.Blobs)
	f.Must(err)
	if len(sources) != 1 || sources[0].Rows == nil || sources[0].Rows.First != 2 || sources[0].Rows.Last != 4 {
		t.Fatalf("the sources are %+v", sources)
	}
	chunk, err := f.Store.Chunk(f.Ctx, activitytest.Member(), sources[0].ChunkID)
	f.Must(err)
	if !strings.Contains(chunk.Text, "North") || chunk.Document.Name != "sales.csv" {
		t.Errorf("the passage is %q of %s", chunk.Text, chunk.Document.Name)
	}
}

// TestTwoQueriesAreTwoSources asks one table twice: each answer has a rank of its own, though
// both stand in the place of the same chunk.
func TestTwoQueriesAreTwoSources(t *testing.T) {
	t.Parallel()
	f, tables := spreadsheets(t, queries{})
	run := f.Ask("what?", tables)
	in := f.calls(run, model.ToolCall{ID: "a", Name: tool.QueryTable, Arguments: sumByRegion},
		model.ToolCall{ID: "b", Name: tool.QueryTable, Arguments: `{"document":"sales.csv","sql":"SELECT count(*) AS n FROM sales"}`})
	loop := record.Loop{Turns: []record.Turn{{Key: in.Key}}}
	for in.Call = range 2 {
		output, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		loop.Searches, loop.Turns[0].Outputs = append(loop.Searches, output.Search), append(loop.Turns[0].Outputs, output)
	}
	_, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
	f.Must(err)
	if sent := f.Sent(); !strings.Contains(sent, "<source_1 ") || !strings.Contains(sent, "<source_2 ") || !strings.Contains(sent, "| 5.5 |") || !strings.Contains(sent, "| n |") {
		t.Errorf("the model reads %q", sent)
	}
}

// TestAnswersOfQueriesGoWithTheirDocuments hides a document after its tables were queried: the
// run has none of its words, and the model reads none of them any more.
func TestAnswersOfQueriesGoWithTheirDocuments(t *testing.T) {
	t.Parallel()
	f, tables := spreadsheets(t, queries{})
	run := f.Ask("what?", tables)
	in := f.calls(run, model.ToolCall{ID: "a", Name: tool.QueryTable, Arguments: sumByRegion})
	output, err := do(f, f.Answering.CallTool, in)
	f.Must(err)
	for _, key := range f.Keys("w/runs/" + run.Run + "/") {
		content, err := f.Blobs.Get(f.Ctx, key)
		f.Must(err)
		if strings.Contains(string(content), "5.5") {
			t.Errorf("%s holds the answer", key)
		}
	}
	loop := record.Loop{Searches: []string{output.Search}, Turns: []record.Turn{{Key: in.Key, Outputs: []record.ToolOutput{output}}}}
	reads := func() string {
		f.Must(f.Blobs.Delete(f.Ctx, run.TurnKey(2))) // so that the model is called again
		_, err = do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
		f.Must(err)
		return f.Sent()
	}
	if sent := reads(); !strings.Contains(sent, "| North | 5.5 |") {
		t.Errorf("before, the model reads %q", sent)
	}
	hidden := knowledge.Access{Users: []string{"eve"}}
	_, err = f.Store.UpdateDocument(f.Ctx, activitytest.Manager(), knowledge.DocumentID("w", "p", "sales.csv"), store.DocumentPatch{Access: &hidden})
	f.Must(err)
	if sent := reads(); strings.Contains(sent, "5.5") {
		t.Errorf("after, the model reads %q", sent)
	}
}

// TestRemovalDuringAQuery hides a document for its removal while its tables are queried: no
// answer stays behind.
func TestRemovalDuringAQuery(t *testing.T) {
	t.Parallel()
	document := knowledge.DocumentID("w", "p", "sales.csv")
	var f *fixture
	remove := false
	f, tables := spreadsheets(t, queries{before: func() {
		if remove {
			_, err := f.Store.MarkRemoving(f.Ctx, activitytest.Manager(), document, knowledge.NewID(), time.Now())
			f.Must(err)
		}
	}})
	in := f.calls(f.Ask("what?", tables), model.ToolCall{ID: "a", Name: tool.QueryTable, Arguments: sumByRegion})
	ref := knowledge.VersionRef{Workspace: "w", Project: "p", Document: document, Version: 1}
	folder := strings.TrimSuffix(sqltable.AnswerKey(ref, "x"), "x.json")
	remove = true
	if _, err := do(f, f.Answering.CallTool, in); err == nil {
		t.Error("the query was answered")
	}
	if left := f.Keys(folder); len(left) != 0 {
		t.Errorf("%v stay", left)
	}
	remove = false
	f2, tables2 := spreadsheets(t, queries{}) // the control
	_, err := do(f2, f2.Answering.CallTool, f2.calls(f2.Ask("what?", tables2), model.ToolCall{ID: "a", Name: tool.QueryTable, Arguments: sumByRegion}))
	f2.Must(err)
	if left := f2.Keys(folder); len(left) != 1 {
		t.Errorf("without a removal there are %v", left)
	}
}
