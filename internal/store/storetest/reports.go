package storetest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// Reports are the reads of operators and workers that no other part of Store has.
type Reports interface {
	HasInstanceKey(ctx context.Context) (bool, error)
	StaleProject(ctx context.Context, p knowledge.Principal, project knowledge.Project) (store.StaleProject, error)
	OutdatedIDs(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (store.OutdatedSet, error)
	FilterOutdated(ctx context.Context, p knowledge.Principal, projects ...knowledge.Project) (*store.OutdatedFilter, error)
	DocumentSummary(ctx context.Context, p knowledge.Principal, before time.Time) (store.DocumentSummary, error)
	ProjectUsage(ctx context.Context, p knowledge.Principal, idOrName string, from, to time.Time) ([]knowledge.DayUsage, error)
	Usage(ctx context.Context, p knowledge.Principal, by store.UsageBy, from, to time.Time) ([]store.OwnedUsage, error)
	ArchiveImports(ctx context.Context, workspace, project string) ([]knowledge.ImportRef, error)
	ImportContains(ctx context.Context, ref knowledge.ImportRef, document string) (bool, error)
	ImportLost(ctx context.Context, ref knowledge.ImportRef) (bool, error)
}

func testReports(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"the_usage_of_a_project_is_by_day_and_model":        usageByDay,
		"costs_in_two_currencies_stay_apart":                usageByCurrency,
		"usage_is_attributed_to_projects_keys_and_people":   usageByOwner,
		"imports_are_found_by_their_documents":              importsOfDocuments,
		"a_project_of_another_model_is_stale_and_outdated":  staleProject,
		"an_acknowledgement_holds_until_the_next_failure":   acknowledged,
		"documents_are_counted_by_cause":                    summarized,
		"originals_of_older_versions_are_listed":            originals,
		"replaced_versions_are_listed":                      replaced,
		"an_admin_key_is_noticed":                           adminKey,
		"the_key_of_a_run_is_released":                      keyOfARun,
		"the_end_of_a_run_with_a_callback_is_queued_for_it": callsBack,
	})
}

func usageByDay(f *fixture) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for id, asked := range map[string]time.Time{"r1": day, "r2": day.Add(time.Hour), "r3": day.AddDate(0, 0, 1), "r4": day.AddDate(0, 0, 9)} {
		f.must(f.AddRun(f.ctx, run(id, func(r *store.Run) { r.CreatedAt = asked })))
		f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: knowledge.RunCompleted, Usage: json.RawMessage(`{"model":"m","seconds":2}`)}))
	}
	got, err := f.ProjectUsage(f.ctx, manager("acme"), "handbook", day.Add(-time.Hour), day.AddDate(0, 0, 5))
	f.must(err)
	sum := func(day string, runs int) knowledge.DayUsage {
		return knowledge.DayUsage{Day: day, Runs: runs, Questions: runs, RunUsage: knowledge.RunUsage{Model: "m", Seconds: 2 * float64(runs)}}
	}
	if diff := cmp.Diff([]knowledge.DayUsage{sum("2026-03-01", 2), sum("2026-03-02", 1)}, got); diff != "" {
		f.Errorf("usage (-want +got):\n%s", diff)
	}
}

// usageByCurrency has runs of one model on one day whose costs are in two currencies.
func usageByCurrency(f *fixture) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for id, used := range map[string]string{"r1": `"cost":0.1,"currency":"EUR"`, "r2": `"cost":0.2,"currency":"EUR"`, "r3": `"cost":7,"currency":"USD"`} {
		f.must(f.AddRun(f.ctx, run(id, func(r *store.Run) { r.CreatedAt = day })))
		f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: knowledge.RunCompleted, Usage: json.RawMessage(`{"model":"m",` + used + `}`)}))
	}
	got, err := f.ProjectUsage(f.ctx, manager("acme"), "handbook", day.Add(-time.Hour), day.Add(time.Hour))
	f.must(err)
	sum := func(runs int, cost float64, currency string) knowledge.DayUsage {
		return knowledge.DayUsage{Day: "2026-03-01", Runs: runs, Questions: runs, RunUsage: knowledge.RunUsage{Model: "m", Usage: knowledge.Usage{Cost: cost, Currency: currency}}}
	}
	if diff := cmp.Diff([]knowledge.DayUsage{sum(2, 0.3, "EUR"), sum(1, 7, "USD")}, got); diff != "" {
		f.Errorf("usage (-want +got):\n%s", diff)
	}
}

func importsOfDocuments(f *fixture) {
	first := f.imported("bucket", func(n *store.NewImport) { n.Request.Source = source.Spec{Type: source.TypeZip, URI: "z"} })
	f.listPage(first, 0, listed("a", "1"), listed("b", "1"), listed("c", "1"))
	var versions []store.ImportedVersion
	for _, key := range []string{"a", "b"} {
		versions = append(versions, importedVersion(f.claim(first, key), key))
	}
	_, err := f.RecordImported(f.ctx, first, store.ImportRecord{Published: versions})
	f.must(err)
	f.failed(first, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageFetch, Message: "it is corrupt"}, "c")
	f.endImport(first)
	document := versions[0].Ref.Document
	f.reports("contains", true, func() (bool, error) { return f.ImportContains(f.ctx, first.ImportRef, document) })
	f.reports("contains another", false, func() (bool, error) { return f.ImportContains(f.ctx, first.ImportRef, "other") })
	f.reports("has lost one", false, func() (bool, error) { return f.ImportLost(f.ctx, first.ImportRef) })
	f.mark(document)
	f.reports("has lost one", true, func() (bool, error) { return f.ImportLost(f.ctx, first.ImportRef) })
	for limit, room := range map[int]bool{0: true, 1: false, 100: true} {
		f.reports("has room", room, func() (bool, error) { return f.HasRoom(f.ctx, first, "another", limit) })
	}
	f.reports("has room for a version", true, func() (bool, error) { return f.HasRoom(f.ctx, first, versions[1].Ref.Document, 1) })
	archives, err := f.ArchiveImports(f.ctx, "acme", "handbook")
	f.must(err)
	all, err := f.ProjectImports(f.ctx, "acme", "handbook")
	f.must(err)
	for _, list := range [][]knowledge.ImportRef{archives, all} {
		if diff := cmp.Diff([]knowledge.ImportRef{first.ImportRef}, list); diff != "" {
			f.Errorf("imports (-want +got):\n%s", diff)
		}
	}
	for i, want := range map[*store.Import]string{&first: "", {ImportRef: first.ImportRef, Source: first.Source, Number: first.Number + 1}: first.Import} {
		if got, err := f.PreviousImport(f.ctx, *i); err != nil || got != want {
			f.Errorf("before import %d is %q, %v; want %q", i.Number, got, err, want)
		}
	}
}

// reports checks a read that answers with yes or no.
func (f *fixture) reports(what string, want bool, ask func() (bool, error)) {
	f.Helper()
	if got, err := ask(); err != nil || got != want {
		f.Errorf("%s: %v, %v; want %v", what, got, err, want)
	}
}

func staleProject(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	config := embedding("new")
	stale, err := f.StaleProject(f.ctx, manager("acme"), knowledge.Project{Workspace: "acme", ID: "handbook", Config: config})
	f.must(err)
	if stale.Documents != 1 || stale.Serving == stale.Wanted {
		f.Errorf("stale: %+v", stale)
	}
	outdated, err := f.OutdatedIDs(f.ctx, manager("acme"), "handbook", config)
	f.must(err)
	if !outdated.Moved || !outdated.IDs[v.Document] {
		f.Errorf("outdated: %+v", outdated)
	}
	filter, err := f.FilterOutdated(f.ctx, manager("acme"), knowledge.Project{ID: "handbook", Config: config}, knowledge.Project{ID: "press"})
	f.must(err)
	if got := f.names(manager("acme"), store.DocumentQuery{Outdated: filter}); !slices.Equal(got, []string{"a.txt"}) {
		f.Errorf("the filter chooses %q", got)
	}
	_, err = f.FilterOutdated(f.ctx, reader("ann"), knowledge.Project{ID: "handbook"})
	f.wantCode(err, knowledge.CodeForbidden)
	if p, err := f.ProjectForSystem(f.ctx, "acme", "handbook"); err != nil || p.ID != "handbook" {
		f.Errorf("project %+v, %v", p, err)
	}
	_, err = f.ProjectForSystem(f.ctx, "acme", "none")
	f.wantCode(err, knowledge.CodeNotFound)
}

func originals(f *fixture) {
	first, _ := f.publish(upload("a.txt"), "one")
	v, _ := f.publish(upload("a.txt"), "two")
	retired, err := f.RetiredSources(f.ctx, v.VersionRef)
	f.must(err)
	named, err := f.NamedSources(f.ctx, []string{v.Document, "none"})
	f.must(err)
	want := []string{first.SourceKey, v.SourceKey}
	slices.Sort(named)
	slices.Sort(want)
	if !slices.Equal(retired, []string{first.SourceKey}) || !slices.Equal(named, want) {
		f.Errorf("retired %q, named %q", retired, named)
	}
}

func replaced(f *fixture) {
	first, _ := f.publish(upload("a.txt"), "one")
	second, _ := f.publish(upload("a.txt"), "two")
	f.fail(f.add(upload("a.txt")))
	again := upload("a.txt")
	again.SourceKey = second.SourceKey
	f.publish(again, "two again")
	last, _ := f.publish(upload("a.txt"), "three")
	for limit, want := range map[int][]int{10: {4, 1}, 1: {4}} {
		versions, err := f.ReplacedVersions(f.ctx, last.VersionRef, limit)
		f.must(err)
		var got []int
		for _, v := range versions {
			got = append(got, v.Version)
		}
		if !slices.Equal(got, want) {
			f.Errorf("replaced are %v of at most %d, want %v", got, limit, want)
		}
	}
	if versions, err := f.ReplacedVersions(f.ctx, first.VersionRef, 10); err != nil || len(versions) != 0 {
		f.Errorf("before the first %+v, %v", versions, err)
	}
}

func adminKey(f *fixture) {
	f.reports("has a key", false, func() (bool, error) { return f.HasInstanceKey(f.ctx) })
	f.must(f.ReplaceInstanceKey(f.ctx, store.Key{ID: "i", Workspace: "acme", Name: "admin", Hash: "h", Instance: true, Scopes: []knowledge.Scope{knowledge.ScopeAdmin}}))
	f.reports("has a key", true, func() (bool, error) { return f.HasInstanceKey(f.ctx) })
}

func keyOfARun(f *fixture) {
	k, other := leased("a", 60), leased("b", 60)
	f.reports("held by another", false, func() (bool, error) { return f.held(k), nil })
	f.must(f.ReleaseRun(f.ctx, "other", k.RunID))
	f.reports("held by another", true, func() (bool, error) { return f.held(other), nil })
	for range 2 {
		f.must(f.ReleaseRun(f.ctx, k.Workspace, k.RunID))
	}
	f.reports("held by another", false, func() (bool, error) { return f.held(other), nil })
}

func callsBack(f *fixture) {
	f.must(f.AddRun(f.ctx, run("r1", func(r *store.Run) { r.Callback = &knowledge.Callback{URL: "https://receiver.test/"} })))
	for range 2 {
		f.must(f.EndRun(f.ctx, "acme", "r1", store.RunEnd{Status: knowledge.RunCompleted}))
	}
	if due := f.due(store.WebhookQueue{Workspace: "acme", Project: "handbook", Webhook: "r1"}, time.Now().Add(time.Minute)); len(due) != 1 {
		f.Errorf("due are %+v", due)
	}
}
