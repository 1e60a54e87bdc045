package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testHolds(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_hold_refuses_removals_and_names_itself": holdsRefuse,
		"a_hold_by_filter_takes_what_comes_later":  holdsByFilter,
		"originals_of_replaced_versions_stay":      holdsKeepOriginals,
		"holds_are_listed":                         listedHolds,
		"a_hold_on_what_is_not_there_is_refused":   holdsOfNothing,
	})
}

func (f *fixture) hold(name string, filter *knowledge.HoldFilter, documents ...string) knowledge.Hold {
	f.Helper()
	h, err := f.AddHold(f.ctx, manager("acme"), knowledge.Hold{ID: knowledge.NewID(), Name: name, Reason: "a lawsuit", Filter: filter}, documents)
	f.must(err)
	return h
}

// wouldHold counts the documents of a hold that is not placed.
func (f *fixture) wouldHold(want int, h knowledge.Hold, documents ...string) {
	f.Helper()
	n, err := f.CountHold(f.ctx, manager("acme"), h, documents)
	f.must(err)
	if n != want {
		f.Errorf("a hold would have %d documents, want %d", n, want)
	}
	if list, _, err := f.Holds(f.ctx, manager("acme"), store.HoldQuery{}); err != nil || len(list) > 0 {
		f.Errorf("counting has placed %d holds: %v", len(list), err)
	}
}

// wantHeldBy removes a document in vain.
func (f *fixture) wantHeldBy(document string, names ...string) {
	f.Helper()
	_, err := f.MarkRemoving(f.ctx, manager("acme"), document, knowledge.NewID(), time.Now())
	f.wantCode(err, knowledge.CodeConflict)
	for _, name := range names {
		if err == nil || !strings.Contains(err.Error(), name) {
			f.Errorf("the refusal does not name the hold %s: %v", name, err)
		}
	}
}

func holdsRefuse(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "one")
	free, _ := f.publish(upload("b.txt"), "two")
	first, second := f.hold("Smith", nil, v.Document), f.hold("Jones", nil, v.Document, v.Document)
	if first.Documents != 1 || second.Documents != 1 || !f.document(v.Document).LegalHold || f.document(free.Document).LegalHold {
		f.Errorf("holds %+v and %+v", first, second)
	}
	f.wantHeldBy(v.Document, "Smith", first.ID, "Jones")
	_, refused, err := f.MarkManyRemoving(f.ctx, manager("acme"), []store.RemovalMark{{Document: v.Document, RunID: knowledge.NewID()}, {Document: free.Document, RunID: knowledge.NewID()}}, time.Now())
	f.must(err)
	if len(refused) != 1 || !strings.Contains(refused[v.Document].Error(), "Smith") {
		f.Errorf("refused %v", refused)
	}
	_, err = f.RemoveProject(f.ctx, manager("acme"), "handbook", knowledge.NewID())
	f.wantCode(err, knowledge.CodeConflict)
	if len(f.sees(reader("ann"), chunks...)) != 1 {
		f.Error("a removal that was refused hides the document")
	}
	lifted, err := f.LiftHold(f.ctx, manager("acme"), first.ID, "settled")
	f.must(err)
	if lifted.LiftReason != "settled" || lifted.LiftedAt.IsZero() || lifted.LiftedBy != "k:manager" {
		f.Errorf("the lifted hold is %+v", lifted)
	}
	_, err = f.LiftHold(f.ctx, manager("acme"), first.ID, "again")
	f.wantCode(err, knowledge.CodeConflict)
	f.wantHeldBy(v.Document, "Jones")
	_, err = f.LiftHold(f.ctx, manager("acme"), second.ID, "settled")
	f.must(err)
	f.mark(v.Document)
}

func holdsByFilter(f *fixture) {
	tagged := func(nv *store.NewVersion) { nv.Tags = []string{"smith"} }
	before, _ := f.publish(upload("before", tagged), "one")
	other, _ := f.publish(upload("other"), "two")
	patched, _ := f.publish(upload("patched"), "three")
	press, _ := f.publish(upload("press", tagged, func(nv *store.NewVersion) { nv.Project = "press" }), "four")
	filter := &knowledge.HoldFilter{Project: "handbook", Tags: []string{"smith", "jones"}}
	f.wouldHold(1, knowledge.Hold{Filter: filter})
	f.wouldHold(2, knowledge.Hold{}, before.Document, press.Document, before.Document)
	h := f.hold("Smith", filter)
	if h.Documents != 1 || h.Filter == nil {
		f.Errorf("the hold is %+v", h)
	}
	after, _ := f.publish(upload("after", tagged), "five")
	tags := []string{"jones"}
	_, err := f.UpdateDocument(f.ctx, manager("acme"), patched.Document, store.DocumentPatch{Tags: &tags})
	f.must(err)
	none := []string{}
	_, err = f.UpdateDocument(f.ctx, manager("acme"), before.Document, store.DocumentPatch{Tags: &none})
	f.must(err)
	for _, v := range []store.Version{before, patched, after} {
		f.wantHeldBy(v.Document, "Smith")
	}
	f.mark(other.Document)
	f.mark(press.Document)
	_, err = f.LiftHold(f.ctx, manager("acme"), h.ID, "settled")
	f.must(err)
	f.mark(after.Document)

	classified := f.hold("By condition", &knowledge.HoldFilter{Conditions: knowledge.Filter{{Field: knowledge.FieldClassification, Type: knowledge.OpEq, Value: "public"}}})
	level := "public"
	_, err = f.UpdateDocument(f.ctx, manager("acme"), patched.Document, store.DocumentPatch{Classification: &level})
	f.must(err)
	f.wantHeldBy(patched.Document, classified.ID)
	f.mark(before.Document)
}

func holdsKeepOriginals(f *fixture) {
	for name, isHeld := range map[string]bool{"held": true, "free": false} {
		old, _ := f.publish(upload(name), "one")
		if isHeld {
			f.hold("Smith", nil, old.Document)
		}
		now, _ := f.publish(upload(name), "two")
		keys, err := f.RetiredSources(f.ctx, now.VersionRef)
		f.must(err)
		if (len(keys) == 0) != isHeld {
			f.Errorf("%s: the originals %v are retired", name, keys)
		}
		v, err := f.VersionFor(f.ctx, manager("acme"), old.Document, old.Version)
		f.must(err)
		if v.SourceKey != old.SourceKey {
			f.Errorf("%s: the replaced version has the original %q", name, v.SourceKey)
		}
	}
}

func listedHolds(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	first, second := f.hold("Smith", nil, v.Document), f.hold("Jones", nil, v.Document)
	again, err := f.AddHold(f.ctx, manager("acme"), knowledge.Hold{ID: first.ID, Name: "Smith"}, []string{v.Document})
	f.must(err)
	if diff := cmp.Diff(first, again); diff != "" {
		f.Errorf("a hold that is placed again: %s", diff)
	}
	_, err = f.LiftHold(f.ctx, manager("acme"), first.ID, "settled")
	f.must(err)
	for active, want := range map[bool][]string{false: {second.ID, first.ID}, true: {second.ID}} {
		list, _, err := f.Holds(f.ctx, manager("acme"), store.HoldQuery{Active: active, Document: v.Document})
		f.must(err)
		var ids []string
		for _, h := range list {
			ids = append(ids, h.ID)
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			f.Errorf("active %t: %s", active, diff)
		}
	}
	other, _ := f.publish(upload("b.txt"), "two")
	if list, _, err := f.Holds(f.ctx, manager("acme"), store.HoldQuery{Document: other.Document}); err != nil || len(list) > 0 {
		f.Errorf("a document without a hold has %d: %v", len(list), err)
	}
	ids, _, err := f.HeldDocuments(f.ctx, manager("acme"), first.ID, store.Page{})
	f.must(err)
	if diff := cmp.Diff([]string{v.Document}, ids); diff != "" {
		f.Error(diff)
	}
	_, err = f.Hold(f.ctx, manager("other"), first.ID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func holdsOfNothing(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	id := knowledge.NewID()
	_, err := f.AddHold(f.ctx, manager("acme"), knowledge.Hold{ID: id, Name: "Smith", Reason: "r"}, []string{v.Document, "none"})
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.Hold(f.ctx, manager("acme"), id)
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.CountHold(f.ctx, manager("acme"), knowledge.Hold{}, []string{v.Document, "none"})
	f.wantCode(err, knowledge.CodeNotFound)
	f.mark(v.Document) // nothing holds it
	_, err = f.AddHold(f.ctx, manager("acme"), knowledge.Hold{ID: id, Name: "Smith", Reason: "r"}, []string{v.Document})
	f.wantCode(err, knowledge.CodeConflict)
}
