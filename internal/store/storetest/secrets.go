package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testSecrets(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_secret_is_replaced_as_a_whole":           secretReplaced,
		"that_of_a_project_is_found_first":          secretOfProject,
		"another_workspace_has_none":                secretElsewhere,
		"a_principal_of_a_project_keeps_to_it":      secretsOfPrincipal,
		"they_go_with_their_project":                secretsGone,
		"one_of_a_project_that_is_gone_is_refused":  secretTooLate,
		"it_is_removed_by_its_name_and_its_project": secretRemoved,
	})
}

// secret is a secret of acme, or of one of its projects.
func secret(project, name, sealed string) store.Secret {
	return store.Secret{Sealed: sealed, Secret: knowledge.Secret{
		Name: name, Workspace: "acme", Project: project, Uses: []knowledge.SecretUse{knowledge.SecretInHeader}, Hosts: []string{"api.example.com"},
	}}
}

func (f *fixture) putSecret(s store.Secret) knowledge.Secret {
	f.Helper()
	stored, _, err := f.PutSecret(f.ctx, manager(s.Workspace), s)
	f.must(err)
	return stored
}

// wantSecret checks what a project means by a name; "" = nothing.
func (f *fixture) wantSecret(workspace, project, name, sealed string) {
	f.Helper()
	got, there, err := f.SecretOf(f.ctx, workspace, project, name)
	if err != nil || there != (sealed != "") || got.Sealed != sealed {
		f.Errorf("%s of %s/%s: %+v, %t, %v; want %q", name, workspace, project, got, there, err, sealed)
	}
}

func secretReplaced(f *fixture) {
	first := secret("", "shop", "v1:first")
	first.UpdatedAt = time.Now().UTC().Truncate(time.Microsecond).Add(-time.Hour)
	stored, created, err := f.PutSecret(f.ctx, manager("acme"), first)
	f.must(err)
	want := first.Secret
	want.CreatedAt = first.UpdatedAt
	if diff := cmp.Diff(want, stored); diff != "" || !created {
		f.Errorf("created %t: %s", created, diff)
	}
	second := secret("", "shop", "v1:second")
	second.Uses, second.Hosts, second.UpdatedAt = []knowledge.SecretUse{knowledge.SecretInImport}, []string{"*.example.net", "10.0.0.1"}, first.UpdatedAt.Add(time.Minute)
	_, created, err = f.PutSecret(f.ctx, manager("acme"), second)
	f.must(err)
	want = second.Secret
	want.CreatedAt = first.UpdatedAt
	list, err := f.Secrets(f.ctx, manager("acme"))
	f.must(err)
	if diff := cmp.Diff([]knowledge.Secret{want}, list); diff != "" || created {
		f.Errorf("created %t: %s", created, diff)
	}
	f.wantSecret("acme", "handbook", "shop", "v1:second")

	third := secret("", "shop", "v1:third")
	for _, was := range []time.Time{{}, first.UpdatedAt} {
		third.Replaces = &was
		_, _, err = f.PutSecret(f.ctx, manager("acme"), third)
		f.wantCode(err, knowledge.CodeConflict)
	}
	f.wantSecret("acme", "handbook", "shop", "v1:second")
	third.Replaces = &second.UpdatedAt
	_, _, err = f.PutSecret(f.ctx, manager("acme"), third)
	f.must(err)
	f.wantSecret("acme", "handbook", "shop", "v1:third")
	third.Name = "other"
	_, _, err = f.PutSecret(f.ctx, manager("acme"), third)
	f.wantCode(err, knowledge.CodeConflict)
}

func secretOfProject(f *fixture) {
	f.putSecret(secret("", "shop", "all"))
	f.putSecret(secret("press", "shop", "press"))
	f.putSecret(secret("press", "own", "own"))
	for project, sealed := range map[string]string{"press": "press", "handbook": "all", "": "all"} {
		f.wantSecret("acme", project, "shop", sealed)
	}
	f.wantSecret("acme", "press", "own", "own")
	f.wantSecret("acme", "handbook", "own", "")
	f.wantSecret("acme", "", "own", "")
}

func secretElsewhere(f *fixture) {
	f.putSecret(secret("", "shop", "acme"))
	f.putSecret(secret("handbook", "own", "acme"))
	for _, name := range []string{"shop", "own"} {
		f.wantSecret("other", "handbook", name, "")
		f.wantSecret("", "", name, "")
		f.wantCode(f.RemoveSecret(f.ctx, manager("other"), "", name), knowledge.CodeNotFound)
		f.wantCode(f.RemoveSecret(f.ctx, manager("other"), "handbook", name), knowledge.CodeNotFound)
	}
	if list, err := f.Secrets(f.ctx, manager("other")); err != nil || len(list) != 0 {
		f.Errorf("another workspace lists %v, %v", list, err)
	}
	mine := secret("", "shop", "other")
	if _, created, err := f.PutSecret(f.ctx, manager("other"), mine); err != nil || !created { // whatever workspace it names
		f.Errorf("created %t, %v", created, err)
	}
	f.wantSecret("acme", "handbook", "shop", "acme")
	f.wantSecret("other", "handbook", "shop", "other")
	for _, err := range []error{
		func() error { _, _, err := f.PutSecret(f.ctx, knowledge.Principal{}, mine); return err }(),
		func() error { _, err := f.Secrets(f.ctx, knowledge.Principal{}); return err }(),
		f.RemoveSecret(f.ctx, knowledge.Principal{}, "", "shop"),
	} {
		f.wantCode(err, knowledge.CodeForbidden)
	}
}

func secretsOfPrincipal(f *fixture) {
	press := claims(func(c *knowledge.Claims) { c.Project, c.Scopes = "press", []knowledge.Scope{knowledge.ScopeAdmin} })
	f.putSecret(secret("", "shop", "all"))
	f.putSecret(secret("handbook", "theirs", "handbook"))
	_, _, err := f.PutSecret(f.ctx, press, secret("press", "own", "press"))
	f.must(err)
	_, _, err = f.PutSecret(f.ctx, press, secret("", "shop", "changed"))
	f.wantCode(err, knowledge.CodeForbidden)
	_, _, err = f.PutSecret(f.ctx, press, secret("handbook", "theirs", "changed"))
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.RemoveSecret(f.ctx, press, "", "shop"), knowledge.CodeForbidden)
	f.wantCode(f.RemoveSecret(f.ctx, press, "handbook", "theirs"), knowledge.CodeNotFound)
	f.wantSecret("acme", "handbook", "shop", "all")
	f.wantSecret("acme", "handbook", "theirs", "handbook")
	list, err := f.Secrets(f.ctx, press)
	if err != nil || len(list) != 2 || list[0].Name != "own" || list[1].Name != "shop" {
		f.Errorf("a principal of press lists %v, %v", list, err)
	}
	if list, err := f.Secrets(f.ctx, manager("acme")); err != nil || len(list) != 3 {
		f.Errorf("one of the workspace lists %v, %v", list, err)
	}
}

func secretsGone(f *fixture) {
	f.putSecret(secret("handbook", "shop", "handbook"))
	f.putSecret(secret("", "shop", "all"))
	f.putSecret(secret("press", "shop", "press"))
	_, ref := f.removeProject()
	f.wantSecret("acme", "handbook", "shop", "all")
	if dropped, err := f.DropProject(f.ctx, ref); err != nil || !dropped {
		f.Fatalf("not dropped: %t, %v", dropped, err)
	}
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "handbook", Workspace: "acme", Name: "New"}))
	f.wantSecret("acme", "handbook", "shop", "all")
	f.wantSecret("acme", "press", "shop", "press")
}

func secretTooLate(f *fixture) {
	_, _, err := f.PutSecret(f.ctx, manager("acme"), secret("missing", "shop", "x"))
	f.wantCode(err, knowledge.CodeNotFound)
	f.removeProject()
	_, _, err = f.PutSecret(f.ctx, manager("acme"), secret("handbook", "shop", "x"))
	f.wantCode(err, knowledge.CodeNotFound)
}

func secretRemoved(f *fixture) {
	f.putSecret(secret("", "shop", "all"))
	f.putSecret(secret("press", "shop", "press"))
	f.must(f.RemoveSecret(f.ctx, manager("acme"), "press", "shop"))
	f.wantSecret("acme", "press", "shop", "all")
	f.wantCode(f.RemoveSecret(f.ctx, manager("acme"), "press", "shop"), knowledge.CodeNotFound)
	f.must(f.RemoveSecret(f.ctx, manager("acme"), "", "shop"))
	f.wantSecret("acme", "press", "shop", "")
	f.wantCode(f.RemoveSecret(f.ctx, manager("acme"), "", "missing"), knowledge.CodeNotFound)
}
