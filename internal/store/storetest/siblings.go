package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testSiblings(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"chunks_of_one_parent_come_in_their_order":         siblingsInOrder,
		"siblings_that_may_not_be_read_are_not_returned":   siblingsUnseen,
		"siblings_of_a_version_that_was_replaced_are_gone": siblingsReplaced,
	})
}

// family publishes a document of two parents with two chunks each, and a chunk
// without a parent.
func (f *fixture) family(nv store.NewVersion) []knowledge.Chunk {
	f.Helper()
	v := f.add(nv)
	chunks := passages(v.VersionRef, "one", "two", "three", "four", "alone")
	for i := range chunks[:4] {
		chunks[i].Parent = knowledge.Span{Start: i / 2 * 20, End: i/2*20 + 20}
	}
	chunks[2].Header = "Month | Days"
	f.must(f.PutChunks(f.ctx, v.VersionRef, chunks))
	_, err := f.Publish(f.ctx, v.VersionRef)
	f.must(err)
	return chunks
}

// siblings returns the texts of the families of chunks.
func (f *fixture) siblings(p knowledge.Principal, chunks ...knowledge.Chunk) map[string][]string {
	f.Helper()
	var ids []string
	for _, c := range chunks {
		ids = append(ids, c.ID)
	}
	families, err := f.Siblings(f.ctx, p, ids)
	f.must(err)
	texts := map[string][]string{}
	for id, family := range families {
		for _, c := range family {
			texts[id] = append(texts[id], c.Header+c.Text)
		}
	}
	return texts
}

func siblingsInOrder(f *fixture) {
	chunks := f.family(upload("a.txt"))
	f.family(upload("b.txt"))
	want := map[string][]string{chunks[3].ID: {"Month | Daysthree", "four"}, chunks[1].ID: {"one", "two"}}
	if diff := cmp.Diff(want, f.siblings(reader("ann"), chunks[3], chunks[4], chunks[1])); diff != "" {
		f.Error(diff)
	}
	families, err := f.Siblings(f.ctx, reader("ann"), []string{chunks[0].ID})
	f.must(err)
	if diff := cmp.Diff(knowledge.Chunk{ID: chunks[1].ID, Ordinal: 1, Span: chunks[1].Span, Text: "two"}, families[chunks[0].ID][1]); diff != "" {
		f.Error(diff)
	}
}

func siblingsUnseen(f *fixture) {
	chunks := f.family(upload("a.txt", func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"bob"}} }))
	for name, p := range map[string]knowledge.Principal{"another user": reader("ann"), "another workspace": manager("other")} {
		if found := f.siblings(p, chunks...); len(found) != 0 {
			f.Errorf("%s reads %v", name, found)
		}
	}
	if found := f.siblings(reader("bob"), chunks...); len(found) != 4 {
		f.Errorf("the reader finds %v", found)
	}
	_, err := f.Siblings(f.ctx, knowledge.Principal{}, []string{chunks[0].ID})
	f.wantCode(err, knowledge.CodeForbidden)
	f.mark(chunks[0].DocumentID)
	if found := f.siblings(reader("bob"), chunks...); len(found) != 0 {
		f.Errorf("of a document that is being removed: %v", found)
	}
}

func siblingsReplaced(f *fixture) {
	old := f.family(upload("a.txt"))
	f.family(upload("a.txt"))
	if found := f.siblings(reader("ann"), old...); len(found) != 0 {
		f.Errorf("of a version that was replaced: %v", found)
	}
}
