package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testFoundParts(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"chunks_are_found_among_many":              chunksAmongMany,
		"chunks_of_a_page_and_those_without_pages": chunksOfPage,
		"projects_are_found_by_parts_of_words":     projectsByWords,
		"runs_of_a_document_are_its_own":           runsOfDocument,
	})
}

// chunksAmongMany finds chunks behind more of them than are read at once.
func chunksAmongMany(f *fixture) {
	texts := make([]string, 1200)
	for i := range texts {
		texts[i] = "pier"
	}
	texts[3], texts[499], texts[500], texts[1199] = "lamp a", "lamp b", "lamp c", "lamp d"
	v, _ := f.publish(upload("a.txt"), texts...)
	lamps := func(c *knowledge.Chunk) (bool, error) {
		c.Text = strings.ToUpper(c.Text)
		return strings.HasPrefix(c.Text, "LAMP"), nil
	}
	for limit, pages := range map[int][]string{1: {"LAMP A", "LAMP B", "LAMP C", "LAMP D"}, 3: {"LAMP A LAMP B LAMP C", "LAMP D"}, 4: {"LAMP A LAMP B LAMP C LAMP D"}} {
		var got []string
		for page := (store.Page{Limit: limit}); ; {
			list, next, err := f.FindChunks(f.ctx, reader("ann"), v.Document, store.ChunkQuery{Page: page}, lamps)
			f.must(err)
			got = append(got, strings.Join(idsOf(list, func(c knowledge.Chunk) string { return c.Text }), " "))
			if page.Cursor = next; next == "" {
				break
			}
		}
		if diff := cmp.Diff(pages, got); diff != "" {
			f.Errorf("by %d: %s", limit, diff)
		}
	}
	list, next, err := f.FindChunks(f.ctx, reader("ann"), v.Document, store.ChunkQuery{From: 501}, lamps)
	if f.must(err); len(list) != 1 || list[0].Ordinal != 1199 || next != "" {
		f.Errorf("from 501: %+v, next %q", list, next)
	}
	broken := errors.New("broken")
	if _, _, err := f.FindChunks(f.ctx, reader("ann"), v.Document, store.ChunkQuery{}, func(*knowledge.Chunk) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		f.Errorf("the error of the choice is %v", err)
	}
}

func chunksOfPage(f *fixture) {
	v := f.add(upload("a.pdf"))
	chunks := passages(v.VersionRef, "one", "one and twelve", "two", "no page")
	chunks[0].Pages = knowledge.Pages{{Page: 1, Width: 12, Height: 2}}
	chunks[1].Pages = knowledge.Pages{{Page: 1, Width: 595, Height: 842}, {Page: 12, Width: 595, Height: 842}}
	chunks[2].Pages = knowledge.Pages{{Page: 2, Width: 12, Height: 1}}
	f.must(f.PutChunks(f.ctx, v.VersionRef, chunks))
	_, err := f.Publish(f.ctx, v.VersionRef)
	f.must(err)
	for number, want := range map[int][]string{0: {"one", "one and twelve", "two", "no page"}, 1: {"one", "one and twelve", "no page"}, 12: {"one and twelve", "no page"}, 2: {"two", "no page"}, 3: {"no page"}} {
		list, _, err := f.QueryChunks(f.ctx, reader("ann"), v.Document, store.ChunkQuery{PageNumber: number})
		f.must(err)
		if diff := cmp.Diff(want, idsOf(list, func(c knowledge.Chunk) string { return c.Text })); diff != "" {
			f.Errorf("page %d: %s", number, diff)
		}
	}
}

func projectsByWords(f *fixture) {
	for id, name := range map[string]string{"p-1": "Übersicht der Verträge", "p-2": "Contracts 100%_", "p-3": "contracts of the harbour"} {
		f.must(f.CreateProject(f.ctx, knowledge.Project{ID: id, Workspace: "acme", Name: name}))
	}
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "p-4", Workspace: "other", Name: "contracts of others"}))
	for words, want := range map[string]int{"übers": 1, "VERTRÄGE über": 1, "contract": 2, "contract harb": 1, "100": 1, "p 3": 1, "others": 0, "nothing": 0} {
		list, next, err := f.FindProjects(f.ctx, manager("acme"), words, store.Page{})
		if f.must(err); len(list) != want || next != "" {
			f.Errorf("%q finds %d projects, want %d, next %q", words, len(list), want, next)
		}
	}
}

func runsOfDocument(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	f.publish(upload("b.txt"), "two")
	again, _ := f.publish(upload("a.txt"), "three")
	f.must(f.AddRun(f.ctx, run("other", func(r *store.Run) { r.Kind, r.Subject = "import", v.Document })))
	list, _, err := f.Runs(f.ctx, reader("ann"), store.RunQuery{Document: v.Document})
	f.must(err)
	if diff := cmp.Diff([]string{again.RunID, v.RunID}, idsOf(list, func(r store.Run) string { return r.ID })); diff != "" {
		f.Error(diff)
	}
	hidden, _ := f.publish(upload("c.txt", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"eve"}} }), "four")
	for who, want := range map[string]int{"ann": 0, "eve": 1} {
		if list, _, err := f.Runs(f.ctx, reader(who), store.RunQuery{Document: hidden.Document}); err != nil || len(list) != want {
			f.Errorf("%s lists %d runs, %v", who, len(list), err)
		}
	}
}
