package storetest

import (
	"encoding/json"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

// administrator may read usage in a workspace, in one project or with "" in all.
func administrator(workspace, project string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Project: project, Permissions: []knowledge.Permission{knowledge.UsageRead}, KeyID: "administrator"})
}

// usageByOwner has a question of a person, one of a key, an ingest and an import.
func usageByOwner(f *fixture) {
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	used := json.RawMessage(`{"model_calls":1,"model":"m"}`)
	f.must(f.CreateKey(f.ctx, store.Key{ID: "robot", Workspace: "acme", Name: "Robot", Hash: "h", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	for id, change := range map[string]func(*store.Run){
		"r1": func(r *store.Run) { r.Owner = "u:ann" },
		"r2": func(r *store.Run) { r.Owner, r.Project = "k:robot", "press" },
		"r3": func(r *store.Run) { r.Owner, r.Kind = "x:bob", knowledge.KindIngest },
	} {
		f.must(f.AddRun(f.ctx, run(id, func(r *store.Run) { r.CreatedAt = day; change(r) })))
		f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: knowledge.RunCompleted, Usage: used, At: day}))
	}
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"))
	_, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(f.claim(i, "a"), "a")}, Usage: knowledge.RunUsage{Model: "m", Usage: knowledge.Usage{EmbeddingCalls: 1}}})
	f.must(err)

	shown := func(p knowledge.Principal, by store.UsageBy) (list [][4]any) {
		f.Helper()
		found, err := f.Usage(f.ctx, p, by, day.Add(-time.Hour), time.Now().Add(time.Hour))
		f.must(err)
		for _, one := range found {
			questions, documents := 0, 0
			for _, d := range one.Days {
				questions, documents = questions+d.Questions, documents+d.Documents
			}
			list = append(list, [4]any{one.ID, one.Name, questions, documents})
		}
		return list
	}
	everything := administrator("acme", "")
	for by, want := range map[store.UsageBy][][4]any{
		store.UsageByProject: {{"handbook", "Handbook", 1, 2}, {"press", "Press", 1, 0}},
		store.UsageByKey:     {{"", "", 1, 1}, {"manager", "", 0, 1}, {"robot", "Robot", 1, 0}},
		store.UsageByUser:    {{"", "", 1, 1}, {"externalUser:bob", "bob", 0, 1}, {"user:ann", "ann", 1, 0}},
	} {
		if diff := cmp.Diff(want, shown(everything, by)); diff != "" {
			f.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
	if diff := cmp.Diff([][4]any{{"press", "Press", 1, 0}}, shown(administrator("acme", "press"), store.UsageByProject)); diff != "" {
		f.Errorf("of one project (-want +got):\n%s", diff)
	}
	if list := shown(administrator("other", ""), store.UsageByUser); len(list) != 0 {
		f.Errorf("of another workspace: %v", list)
	}
	_, err = f.Usage(f.ctx, manager("acme"), store.UsageByKey, day, day)
	f.wantCode(err, knowledge.CodeForbidden)
}
