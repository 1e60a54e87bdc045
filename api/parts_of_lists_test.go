package api_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// each returns a field of each entry of a list of the API.
func each(list any, field string) []any {
	values := []any{}
	for _, one := range list.([]any) {
		values = append(values, one.(map[string]any)[field])
	}
	return values
}

func TestPassagesAreChosen(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.pdf", "text")
	on := func(text string, pages ...int) knowledge.Chunk {
		c := knowledge.Chunk{Text: text}
		for i, page := range pages {
			c.Lines = append(c.Lines, knowledge.Line{Start: i, End: i + 1, Page: page, Box: knowledge.Box{X1: 1, Y1: 1, X2: 9, Y2: 9}})
			c.Pages = append(c.Pages, knowledge.PageSize{Page: page, Width: 100, Height: 200})
		}
		return c
	}
	e.publish(id, on("The LAMP burns.", 1), on("A horn, 100%.", 1, 2), on("Another lamp.", 2), on("No page."))
	other := e.add(e.editor, "b.txt", "text")
	e.publish(other, on("A lamp of another document."))
	for query, want := range map[string][]any{
		"chunk_id=" + knowledge.ChunkID(id, 1, 2):    {3.0},
		"chunk_id=" + knowledge.ChunkID(other, 1, 0): {},
		"chunk_id=none":               {},
		"from=1":                      {1.0, 2.0, 3.0, 4.0},
		"from=3":                      {3.0, 4.0},
		"from=5":                      {},
		"page_number=1":               {1.0, 2.0},
		"page_number=2":               {2.0, 3.0},
		"page_number=3":               {},
		"q=lamp":                      {1.0, 3.0},
		"q=" + url.QueryEscape("0%."): {2.0},
		"q=lamp&from=2":               {3.0},
		"q=lamp&page_number=1":        {1.0},
		"q=ship":                      {},
	} {
		got := e.do("GET", own+"/documents/"+id+"/chunks?"+query, e.reader, nil).want(200)
		if diff := cmp.Diff(want, each(got["data"], "number")); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	for _, query := range []string{"from=0", "page_number=0", "page_number=x"} {
		e.do("GET", own+"/documents/"+id+"/chunks?"+query, e.reader, nil).refused(422, knowledge.CodeInvalid)
	}
}

func TestMessagesComeNewestFirst(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.conversation(e.reader, "")
	for i := range 3 {
		err := e.store.SaveMessages(t.Context(), "default", store.Message{ID: fmt.Sprint("m", i), ConversationID: id, Role: "user", Text: fmt.Sprint(i), Status: "completed"})
		if err != nil {
			t.Fatal(err)
		}
	}
	path := own + "/conversations/" + id + "?limit=2&order="
	got := e.do("GET", path+"desc", e.reader, nil).want(200)
	rest := e.do("GET", path+"desc&cursor="+got["next_cursor"].(string), e.reader, nil).want(200)
	if diff := cmp.Diff([]any{"2", "1", "0"}, append(each(got["messages"], "text"), each(rest["messages"], "text")...)); diff != "" {
		t.Error(diff)
	}
	first := e.do("GET", path+"asc", e.reader, nil).want(200)
	if diff := cmp.Diff([]any{"0", "1"}, each(first["messages"], "text")); diff != "" {
		t.Error(diff)
	}
	e.do("GET", path+"asc&cursor="+got["next_cursor"].(string), e.reader, nil).refused(422, knowledge.CodeInvalid)
}

func TestProjectsAndRunsAreNarrowed(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, name := range []string{"Harbour law", "Harbour lamps"} {
		e.do("POST", own+"/webhooks/projects", e.admin, map[string]any{"name": name}).want(200)
	}
	for query, want := range map[string][]any{"harb+LAW": {"Harbour law"}, "harb": {"Harbour lamps", "Harbour law"}, "ship": {}} {
		got := e.do("GET", own+"/projects?q="+query, e.admin, nil).want(200)
		if diff := cmp.Diff(want, each(got["data"], "name")); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	one, other := e.add(e.editor, "a.txt", "one"), e.add(e.editor, "b.txt", "two")
	for document, want := range map[string]int{one: 1, other: 1, "none": 0} {
		got := e.do("GET", own+"/runs?document_id="+document, e.editor, nil).want(200)["data"].([]any)
		if len(got) != want || want > 0 && got[0].(map[string]any)["document_id"] != document {
			t.Errorf("%s has the runs %v", document, got)
		}
	}
}
