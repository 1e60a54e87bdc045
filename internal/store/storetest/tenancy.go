package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testTenancy(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_setting_is_made_once":                     settingOnce,
		"a_workspace_is_made_once":                   workspaceOnce,
		"a_project_is_found_by_id_and_by_name":       projects,
		"of_project_changes_at_once_none_is_lost":    projectChangesAtOnce,
		"a_key_is_found_until_it_is_revoked":         keys,
		"the_instances_key_is_replaced_as_one":       instanceKey,
		"keys_of_a_project_are_its_principals_alone": projectKeys,
		"keys_are_held_to_what_their_makers_may_do":  keyMakers,
		"a_session_ends_by_time_or_with_its_key":     sessions,
		"sessions_that_have_expired_are_dropped":     droppedSessions,
	})
}

func settingOnce(f *fixture) {
	values := make([]string, 12)
	var wg sync.WaitGroup
	for i := range values {
		wg.Go(func() {
			var err error
			if values[i], err = f.Setting(f.ctx, "secret", knowledge.NewID); err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	for _, v := range values {
		if v == "" || v != values[0] {
			f.Fatalf("settings %v", values)
		}
	}
	if v, err := f.Setting(f.ctx, "another", func() string { return "x" }); err != nil || v != "x" {
		f.Errorf("setting %q, %v", v, err)
	}
}

func workspaceOnce(f *fixture) {
	f.wantCode(f.CreateWorkspace(f.ctx, store.Workspace{ID: "acme"}), knowledge.CodeConflict)
	for id, want := range map[string]bool{"acme": true, "ACME": false, "missing": false, "": false} {
		if got, err := f.WorkspaceExists(f.ctx, id); err != nil || got != want {
			f.Errorf("workspace %q exists: %t, %v", id, got, err)
		}
	}
	f.wantCode(f.CreateProject(f.ctx, knowledge.Project{ID: "p", Workspace: "missing"}), knowledge.CodeNotFound)
	f.wantCode(f.CreateKey(f.ctx, store.Key{ID: "k", Hash: "h", Workspace: "missing"}), knowledge.CodeNotFound)
}

func projects(f *fixture) {
	p := manager("acme")
	temperature := 0.5
	want := knowledge.Project{ID: "manual", Workspace: "acme", Name: "Mänual", CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}
	want.UpdatedAt = want.CreatedAt
	want.Config.AI.Prompt, want.Config.AI.Temperature = "say ${context}", &temperature
	want.Config.AI.Retrieval.Weights = &knowledge.Weights{Dense: 0.4, BM25: 0.6}
	f.must(f.CreateProject(f.ctx, want))
	f.wantCode(f.CreateProject(f.ctx, want), knowledge.CodeConflict)
	for _, name := range []string{"manual", "Mänual"} {
		got, err := f.Project(f.ctx, p, name)
		f.must(err)
		if diff := cmp.Diff(want, got); diff != "" {
			f.Error(diff)
		}
	}
	want.Name, want.Config.Limits.Documents, want.UpdatedAt = "press", 7, want.UpdatedAt.Add(time.Second)
	updated, err := f.UpdateProject(f.ctx, p, "manual", func(project *knowledge.Project) error { *project = want; return nil })
	f.must(err)
	read, err := f.Project(f.ctx, p, "manual")
	f.must(err)
	for _, got := range []knowledge.Project{updated, read} {
		if diff := cmp.Diff(want, got); diff != "" {
			f.Error(diff)
		}
	}
	if got, err := f.Project(f.ctx, p, "press"); err != nil || got.ID != "press" {
		f.Errorf("an id comes before a name: %+v, %v", got, err)
	}
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "twin", Workspace: "acme", Name: "Handbook"}))
	_, err = f.Project(f.ctx, p, "Handbook")
	f.wantCode(err, knowledge.CodeConflict)
	wantNamed := func(p knowledge.Principal, name string, want ...string) {
		if got, err := f.ProjectsNamed(f.ctx, p, name); err != nil || !slices.Equal(got, want) {
			f.Errorf("projects named %q: %q, %v; want %q", name, got, err, want)
		}
	}
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "twin-2", Workspace: "acme", Name: "Triplet", CreatedAt: want.CreatedAt}))
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "twin-1", Workspace: "acme", Name: "Triplet", CreatedAt: want.UpdatedAt}))
	wantNamed(p, "Triplet", "twin-2", "twin-1")
	wantNamed(p, "Nobody")
	wantNamed(manager("other"), "Triplet")
	_, err = f.UpdateProject(f.ctx, p, "missing", func(*knowledge.Project) error { return nil })
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.UpdateProject(f.ctx, p, "manual", func(*knowledge.Project) error { return knowledge.Errorf(knowledge.CodeInvalid, "no") })
	f.wantCode(err, knowledge.CodeInvalid)
}

func projectChangesAtOnce(f *fixture) {
	const changes = 16
	var wg sync.WaitGroup
	for range changes {
		wg.Go(func() {
			_, err := f.UpdateProject(f.ctx, manager("acme"), "press", func(project *knowledge.Project) error {
				project.Config.Limits.Documents++
				return nil
			})
			if err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := f.Project(f.ctx, manager("acme"), "press")
	f.must(err)
	if got.Config.Limits.Documents != changes {
		f.Errorf("%d changes of %d are left", got.Config.Limits.Documents, changes)
	}
}

func keys(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	want := store.Key{
		ID: "k1", Workspace: "acme", Project: "press", Name: "CI", Hash: "h1", Prefix: "cairn_abc",
		Scopes: []knowledge.Scope{knowledge.ScopeRead, knowledge.ScopeWrite}, ExpiresAt: now.Add(time.Hour), CreatedAt: now,
	}
	f.must(f.CreateKey(f.ctx, want))
	f.wantCode(f.CreateKey(f.ctx, want), knowledge.CodeConflict)
	got, err := f.KeyByHash(f.ctx, "h1")
	f.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Error(diff)
	}
	for range 2 {
		f.must(f.RevokeKey(f.ctx, manager("acme"), "k1"))
		_, err = f.KeyByHash(f.ctx, "h1")
		f.wantCode(err, knowledge.CodeNotFound)
	}
	list, _, err := f.Keys(f.ctx, manager("acme"), store.Page{})
	if err != nil || len(list) != 1 || list[0].RevokedAt.IsZero() {
		f.Errorf("keys %+v, %v", list, err)
	}
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k2", Workspace: "acme", Hash: "h2", ExpiresAt: now.Add(-time.Second)}))
	for _, hash := range []string{"h2", "missing", ""} {
		_, err = f.KeyByHash(f.ctx, hash)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	f.wantCode(f.RevokeKey(f.ctx, manager("acme"), "missing"), knowledge.CodeNotFound)
}

func instanceKey(f *fixture) {
	for _, hash := range []string{"h1", "h1", "h2"} {
		f.must(f.ReplaceInstanceKey(f.ctx, store.Key{ID: knowledge.NewID(), Workspace: "acme", Hash: hash, Scopes: []knowledge.Scope{knowledge.ScopeAdmin}}))
	}
	_, err := f.KeyByHash(f.ctx, "h1")
	f.wantCode(err, knowledge.CodeNotFound)
	k, err := f.KeyByHash(f.ctx, "h2")
	f.must(err)
	if !k.Instance {
		f.Errorf("key %+v", k)
	}
	if list, _, err := f.Keys(f.ctx, manager("acme"), store.Page{}); err != nil || len(list) != 0 {
		f.Errorf("a workspace's manager sees the instance's key: %v, %v", list, err)
	}
	admin := claims(func(c *knowledge.Claims) { c.Instance = true })
	if list, _, err := f.Keys(f.ctx, admin, store.Page{}); err != nil || len(list) != 1 {
		f.Errorf("keys %v, %v", list, err)
	}
	for _, p := range []knowledge.Principal{manager("acme"), admin} {
		f.wantCode(f.RevokeKey(f.ctx, p, k.ID), knowledge.CodeNotFound)
	}
}

func projectKeys(f *fixture) {
	made := knowledge.Project{ID: "made", Workspace: "acme", Name: "Made"}
	f.must(f.CreateProject(f.ctx, made, store.Key{ID: "k0", Hash: "h0"}))
	f.wantCode(f.CreateProject(f.ctx, made, store.Key{ID: "k9", Hash: "h9"}), knowledge.CodeConflict)
	if k, err := f.KeyByHash(f.ctx, "h0"); err != nil || k.Workspace != "acme" || k.Project != "made" {
		f.Errorf("the key that came with a project: %+v, %v", k, err)
	}
	_, err := f.KeyByHash(f.ctx, "h9")
	f.wantCode(err, knowledge.CodeNotFound)
	renewed, err := f.RenewKey(f.ctx, manager("acme"), "k0", "h00", "cairn_0")
	if err != nil || renewed.Project != "made" || renewed.Hash != "h00" || renewed.Prefix != "cairn_0" {
		f.Errorf("renewed: %+v, %v", renewed, err)
	}
	for hash, there := range map[string]bool{"h0": false, "h00": true} {
		if _, err := f.KeyByHash(f.ctx, hash); (err == nil) != there {
			f.Errorf("key with %s: %v", hash, err)
		}
	}
	f.must(f.RevokeKey(f.ctx, manager("acme"), "k0"))
	_, err = f.RenewKey(f.ctx, manager("acme"), "k0", "h0", "cairn_0")
	f.wantCode(err, knowledge.CodeNotFound)

	f.must(f.CreateKey(f.ctx, store.Key{ID: "k1", Workspace: "acme", Project: "press", Hash: "h1"}))
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k2", Workspace: "acme", Project: "handbook", Hash: "h2"}))
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k3", Workspace: "acme", Hash: "h3"}))
	p := claims(func(c *knowledge.Claims) { c.Project, c.Scopes = "press", []knowledge.Scope{knowledge.ScopeAdmin} })
	list, _, err := f.Keys(f.ctx, p, store.Page{})
	if err != nil || len(list) != 1 || list[0].ID != "k1" {
		f.Errorf("keys %+v, %v", list, err)
	}
	for _, id := range []string{"k2", "k3"} {
		f.wantCode(f.RevokeKey(f.ctx, p, id), knowledge.CodeNotFound)
	}
	f.must(f.RevokeKey(f.ctx, p, "k1"))
}
