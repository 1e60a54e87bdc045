package storetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testFacets(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"count_what_a_reader_sees":            countsFacets,
		"attachments_are_of_one_conversation": attached,
	})
}

func countsFacets(f *fixture) {
	put := func(name string, tags []string, metadata map[string]any, change ...func(*store.NewVersion)) {
		change = append(change, func(nv *store.NewVersion) {
			nv.Tags, nv.Metadata, nv.Facts = tags, metadata, store.Facts{Language: "deu"}
		})
		f.publish(upload(name, change...), name)
	}
	long := "a summary that is longer than any value by which one would tell documents apart, with more than a hundred bytes"
	put("a", []string{"leave", "2024"}, map[string]any{"year": 2024, "entities": []any{"Ann", 7}, "summary": long})
	put("b", []string{"leave"}, map[string]any{"year": 2024, "draft": true})
	put("c", []string{"press"}, map[string]any{"year": 1999}, func(nv *store.NewVersion) { nv.Project = "press" })
	put("hidden", []string{"secret"}, map[string]any{"board": "yes"}, func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"eve"}} })
	f.add(upload("pending", func(nv *store.NewVersion) { nv.Tags = []string{"pending"} }))

	got, err := f.Facets(f.ctx, reader("ann"), []string{"handbook"})
	f.must(err)
	want := store.Facets{
		Tags: map[string]int{"leave": 2, "2024": 1}, Languages: map[string]int{"deu": 2}, Classifications: map[string]int{}, Entities: map[string]int{"Ann": 1},
		Metadata: map[string]map[any]int{"year": {2024.0: 2}, "draft": {true: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Error(diff)
	}
	if got, err = f.Facets(f.ctx, manager("acme"), nil); err != nil || got.Tags["press"] != 1 || got.Tags["secret"] != 0 || got.Tags["pending"] != 0 {
		f.Errorf("of all projects: %+v, %v", got, err)
	}
	if got, err = f.Facets(f.ctx, reader("eve"), nil); err != nil || got.Tags["secret"] != 1 {
		f.Errorf("of eve: %+v, %v", got, err)
	}
	if got, err = f.Facets(f.ctx, manager("other"), nil); err != nil || len(got.Tags) != 0 {
		f.Errorf("of another workspace: %+v, %v", got, err)
	}
}

func attached(f *fixture) {
	f.cite(reader("ann"), "talk", "m1")
	attach := func(name, conversation string) string {
		v, _ := f.publish(upload(name, func(nv *store.NewVersion) { nv.ConversationID = &conversation }), name)
		return v.Document
	}
	want := []string{attach("a.txt", "talk"), attach("b.txt", "talk")}
	attach("c.txt", "another")
	f.publish(upload("d.txt"), "of everybody")
	got, err := f.Attached(f.ctx, claims(func(c *knowledge.Claims) { c.ConversationID = "talk" }), nil)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		f.Errorf("%v %s", err, diff)
	}
	for name, p := range map[string]knowledge.Principal{
		"without_a_conversation": reader("ann"),
		"in_another_project":     claims(func(c *knowledge.Claims) { c.ConversationID, c.Project = "talk", "press" }),
	} {
		if got, err := f.Attached(f.ctx, p, nil); err != nil || len(got) != 0 {
			f.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
