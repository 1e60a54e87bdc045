package storetest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testGenerations(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_switch_happens_once_and_only_to_what_is_filled":  switchOnce,
		"a_version_of_earlier_generations_is_not_published": publishMoved,
		"a_project_without_documents_has_nothing_to_fill":   adoptGeneration,
		"another_model_makes_all_documents_outdated":        outdatedByModel,
		"what_is_published_is_listed_with_its_chunks":       publishedVersions,
		"any_published_version_has_passages":                anyPublished,
		"of_two_addresses_of_an_endpoint_the_first_stays":   embeddingAddresses,
		"a_revision_makes_published_documents_stale":        useGeneration,
		"a_search_reads_the_generation_of_each_project":     searchedGenerations,
	})
}

// embedding returns a configuration with an embedding model.
func embedding(model string) knowledge.ProjectConfig {
	return knowledge.ProjectConfig{AI: knowledge.AIConfig{Embeddings: knowledge.Embeddings{Model: model, Dimensions: 4}}}
}

func (f *fixture) generations(want knowledge.Generations) {
	f.Helper()
	got, err := f.ProjectGenerations(f.ctx, "acme", "handbook")
	f.must(err)
	if got != want {
		f.Errorf("the project has %+v, want %+v", got, want)
	}
}

func switchOnce(f *fixture) {
	switched, err := f.SwitchGeneration(f.ctx, "acme", "handbook", "new/4")
	f.must(err)
	if switched {
		f.Error("switched to a generation that is not filled")
	}
	for range 2 {
		of, err := f.BeginFilling(f.ctx, "acme", "handbook", "new/4")
		f.must(err)
		if of.Filling != "new/4" {
			f.Errorf("began %+v", of)
		}
	}
	f.generations(knowledge.Generations{Filling: "new/4"})
	f.must(f.EndFilling(f.ctx, "acme", "handbook", "other/4"))
	for _, want := range []bool{true, false} {
		switched, err := f.SwitchGeneration(f.ctx, "acme", "handbook", "new/4")
		f.must(err)
		if switched != want {
			f.Errorf("switched is %t, want %t", switched, want)
		}
		f.generations(knowledge.Generations{Serving: "new/4"})
	}
	_, err = f.BeginFilling(f.ctx, "acme", "handbook", "third/4")
	f.must(err)
	f.must(f.EndFilling(f.ctx, "acme", "handbook", "third/4"))
	f.generations(knowledge.Generations{Serving: "new/4"})
}

func publishMoved(f *fixture) {
	v := f.add(upload("a"))
	before, err := f.ProjectGenerations(f.ctx, "acme", "handbook")
	f.must(err)
	filling, err := f.BeginFilling(f.ctx, "acme", "handbook", "new/4")
	f.must(err)
	p := store.Publication{Ref: v.VersionRef, Of: before, Chunks: passages(v.VersionRef, "text")}
	for _, step := range []struct {
		of          knowledge.Generations
		done, moved bool
	}{{before, false, true}, {knowledge.Generations{Serving: "new/4"}, false, true}, {filling, true, false}, {before, true, false}} {
		p.Of = step.of
		got, err := f.PublishVersion(f.ctx, p)
		f.must(err)
		if got.Done != step.done || got.Moved != step.moved {
			f.Errorf("written in %+v: %+v", step.of, got)
		}
	}
}

func adoptGeneration(f *fixture) {
	wants := func(config knowledge.ProjectConfig, want string) {
		f.Helper()
		p, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error { p.Config = config; return nil })
		f.must(err)
		if p.Generations.Serving != want {
			f.Errorf("the project reads %q, want %q", p.Generations.Serving, want)
		}
		f.generations(knowledge.Generations{Serving: want})
	}
	wants(embedding("first"), "first/4")
	v := f.add(upload("a"))
	wants(embedding("second"), "second/4")
	_, err := f.PublishVersion(f.ctx, store.Publication{Ref: v.VersionRef, Of: knowledge.Generations{Serving: "second/4"}, Chunks: passages(v.VersionRef, "text")})
	f.must(err)
	wants(embedding("third"), "second/4")
}

func outdatedByModel(f *fixture) {
	f.publish(f.cut("a", knowledge.ProjectConfig{}, ""), "text")
	f.publish(f.cut("b", knowledge.ProjectConfig{}, ""), "text")
	for config, want := range map[knowledge.Embeddings]int{{}: 0, {Model: "new"}: 2} {
		got, err := f.CountOutdated(f.ctx, manager("acme"), "handbook", knowledge.ProjectConfig{AI: knowledge.AIConfig{Embeddings: config}})
		f.must(err)
		if got != want {
			f.Errorf("with %+v %d documents are outdated, want %d", config, got, want)
		}
	}
	stale, err := f.StaleProjects(f.ctx)
	if f.must(err); len(stale) != 0 {
		f.Errorf("stale are %+v", stale)
	}
	_, err = f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Config = embedding("new")
		return nil
	})
	f.must(err)
	stale, err = f.StaleProjects(f.ctx)
	f.must(err)
	want := []store.StaleProject{{Workspace: "acme", Project: "handbook", Wanted: "new/4", Documents: 2}}
	if diff := cmp.Diff(want, stale); diff != "" {
		f.Errorf("stale projects (-want +got):\n%s", diff)
	}
	_, err = f.StartReindex(f.ctx, manager("acme"), "handbook", "reindex", embedding("new"))
	f.must(err)
	if stale, err = f.StaleProjects(f.ctx); err != nil || len(stale) != 1 || !stale[0].Reindexing {
		f.Errorf("while a reindex runs %+v are stale, %v", stale, err)
	}
}

func embeddingAddresses(f *fixture) {
	move := func(was, address, want string) {
		f.Helper()
		got, err := f.MoveEmbeddings(f.ctx, "m/4", was, address)
		f.must(err)
		recorded, err := f.EmbeddingAddress(f.ctx, "m/4")
		f.must(err)
		if got != want || recorded != want {
			f.Errorf("moved to %q, %q is recorded, want %q", got, recorded, want)
		}
	}
	move("", "a", "a")
	move("", "b", "a")
	move("a", "b", "b")
	move("a", "c", "b")
}

// useGeneration revises a model of which one project has a published document, and one has
// none.
func useGeneration(f *fixture) {
	configure := func(project string) {
		f.Helper()
		_, err := f.UpdateProject(f.ctx, manager("acme"), project, func(p *knowledge.Project) error { p.Config = embedding("m"); return nil })
		f.must(err)
	}
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "empty", Workspace: "acme", Name: "empty"}))
	configure("empty")
	configure("handbook")
	v := f.add(upload("a"))
	_, err := f.PublishVersion(f.ctx, store.Publication{Ref: v.VersionRef, Of: knowledge.Generations{Serving: "m/4"}, Chunks: passages(v.VersionRef, "text")})
	f.must(err)
	f.must(f.UseGeneration(f.ctx, "m #2/4"))
	f.generations(knowledge.Generations{Serving: "m/4"})
	empty, err := f.ProjectGenerations(f.ctx, "acme", "empty")
	f.must(err)
	if empty.Serving != "m #2/4" {
		f.Errorf("the project without documents has %+v", empty)
	}
	stale, err := f.StaleProjects(f.ctx)
	f.must(err)
	want := []store.StaleProject{{Workspace: "acme", Project: "handbook", Serving: "m/4", Wanted: "m #2/4", Documents: 1}}
	if diff := cmp.Diff(want, stale); diff != "" {
		f.Errorf("stale projects (-want +got):\n%s", diff)
	}
	list, err := f.PublishedIn(f.ctx, "m/4", 5)
	f.must(err)
	if len(list) != 1 || list[0].Chunks != 1 {
		f.Errorf("published are %+v", list)
	}
	wanted, err := f.WantedGenerations(f.ctx)
	f.must(err)
	if !slices.Contains(wanted, "m #2/4") || slices.Contains(wanted, "m/4") {
		f.Errorf("wanted are %q", wanted)
	}
}

func publishedVersions(f *fixture) {
	want := map[string]int{}
	for name, texts := range map[string][]string{"a": {"one", "two", "three"}, "b": {"one"}, "c": {"one", "two"}} {
		v, _ := f.publish(upload(name), texts...)
		want[v.Document] = len(texts)
	}
	f.add(upload("pending"))
	got, after := map[string]int{}, ""
	for range 4 {
		list, err := f.PublishedVersions(f.ctx, "acme", "handbook", after, 1)
		f.must(err)
		for _, p := range list {
			got[p.Document], after = p.Chunks, p.Document
			chunks, err := f.ChunksForSystem(f.ctx, p.VersionRef, 1, 9)
			f.must(err)
			if len(chunks) != p.Chunks-1 || len(chunks) > 0 && chunks[0].Ordinal != 1 {
				f.Errorf("from the second on there are %+v", chunks)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("published (-want +got):\n%s", diff)
	}
	run, err := f.StartRebuild(f.ctx, manager("acme"), "handbook", "rebuild")
	f.must(err)
	var p knowledge.ReindexProgress
	f.must(json.Unmarshal(run.Progress, &p))
	if p.Matched != 3 || !p.Rebuild {
		f.Errorf("the run begins with %+v", p)
	}
}

func searchedGenerations(f *fixture) {
	check := func(p knowledge.Principal, projects []string, want ...store.SearchedGeneration) {
		f.Helper()
		got, err := f.SearchedGenerations(f.ctx, p, projects)
		f.must(err)
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("projects %v (-want +got):\n%s", projects, diff)
		}
	}
	check(manager("acme"), nil, store.SearchedGeneration{})
	_, err := f.BeginFilling(f.ctx, "acme", "handbook", "new/4")
	f.must(err)
	_, err = f.SwitchGeneration(f.ctx, "acme", "handbook", "new/4")
	f.must(err)
	check(manager("acme"), nil, store.SearchedGeneration{Projects: []string{"press"}}, store.SearchedGeneration{Name: "new/4", Projects: []string{"handbook"}})
	check(manager("acme"), []string{"handbook"}, store.SearchedGeneration{Name: "new/4"})
	check(manager("other"), nil, store.SearchedGeneration{})
}

func anyPublished(f *fixture) {
	want := func(document string) {
		f.Helper()
		ref, ok, err := f.AnyPublished(f.ctx)
		f.must(err)
		if ref.Document != document || ok != (document != "") {
			f.Errorf("found %+v, %v; want document %q", ref, ok, document)
		}
	}
	want("")
	f.publish(upload("empty"))
	f.add(upload("pending"))
	want("")
	v, _ := f.publish(upload("a"), "one", "two")
	want(v.Document)
	f.remove(manager("acme"), v.Document)
	want("")
}
