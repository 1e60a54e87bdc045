package credential_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/credential"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/store"
)

var (
	tools = []knowledge.SecretUse{knowledge.SecretInHeader}
	hosts = []string{"api.example.com"}
)

// rows are stored secrets by "workspace/project/name".
type rows map[string]store.Secret

func (r rows) SecretOf(_ context.Context, workspace, project, name string) (store.Secret, bool, error) {
	if workspace == "down" {
		return store.Secret{}, false, errors.New("the database is down")
	}
	for _, key := range []string{workspace + "/" + project + "/" + name, workspace + "//" + name} {
		if s, ok := r[key]; ok {
			return s, true, nil
		}
	}
	return store.Secret{}, false, nil
}

func need(workspace, project string) knowledge.SecretNeed {
	return knowledge.SecretNeed{Workspace: workspace, Project: project, Use: knowledge.SecretInHeader, Host: "api.example.com"}
}

// newBook has secrets of the configuration and stored ones, whose values say where they
// come from.
func newBook(t *testing.T) *credential.Book {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	stored := rows{}
	b := credential.New(credential.Config{
		Secrets: []knowledge.Secret{
			{Name: "both", Workspace: "acme", Uses: tools, Hosts: hosts},
			{Name: "closed", Workspace: "acme", Project: "press"},
			{Name: "elsewhere", Workspace: "other", Uses: tools, Hosts: hosts},
			{Name: "lost", Workspace: "acme", Uses: tools, Hosts: hosts},
		},
		Value: func(name string) ([]byte, error) {
			if name == "lost" {
				return nil, errors.New("open /run/secrets/lost: hidden words")
			}
			return []byte("configuration"), nil
		},
		AmbientIdentity: []string{"acme", ""},
	}, stored, box)
	for _, s := range []knowledge.Secret{
		{Name: "both", Workspace: "acme"}, {Name: "closed", Workspace: "acme"}, {Name: "elsewhere", Workspace: "acme"},
		{Name: "own", Workspace: "acme"}, {Name: "own", Workspace: "acme", Project: "press"},
	} {
		s.Uses, s.Hosts = tools, hosts
		sealed, err := b.Seal(s, "stored "+s.Project)
		if err != nil {
			t.Fatal(err)
		}
		stored[s.Workspace+"/"+s.Project+"/"+s.Name] = store.Secret{Secret: s, Sealed: sealed}
	}
	stored["acme//moved"] = store.Secret{Secret: knowledge.Secret{Name: "moved", Workspace: "acme", Uses: tools, Hosts: hosts}, Sealed: stored["acme//own"].Sealed}
	return b
}

func TestValue(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	for _, c := range []struct{ project, name, want string }{
		{"press", "both", "configuration"},
		{"press", "own", "stored press"},
		{"shop", "own", "stored "},
		{"", "own", "stored "},
		{"press", "closed", ""}, // the configuration's, which is closed, is meant
		{"shop", "closed", "stored "},
		{"shop", "elsewhere", "stored "}, // a name of another workspace is free
		{"shop", "nothing", ""},
	} {
		value, stored, err := b.Value(t.Context(), c.name, need("acme", c.project))
		if string(value) != c.want || (err == nil) != (c.want != "") || stored != strings.HasPrefix(c.want, "stored") {
			t.Errorf("%s of %q: %q, %t, %v; want %q", c.name, c.project, value, stored, err, c.want)
		}
		if usable, err := b.Usable(t.Context(), c.name, need("acme", c.project)); err != nil || usable != (c.want != "") {
			t.Errorf("%s of %q is usable: %t, %v", c.name, c.project, usable, err)
		}
	}
}

func TestErrorsOfValues(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	want := knowledge.MissingSecret("x", need("acme", "press")).Error()
	for _, name := range []string{"nothing", "closed"} {
		_, _, err := b.Value(t.Context(), name, need("acme", "press"))
		if got := strings.ReplaceAll(err.Error(), `"`+name+`"`, `"x"`); got != want || !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err := b.Value(t.Context(), "lost", need("acme", "press"))
	if e := knowledge.AsError(err); e.Code != knowledge.CodeUnavailable || !e.Retryable || strings.Contains(e.Message, "hidden words") {
		t.Errorf("a value that cannot be read: %v", err)
	}
	if _, _, err := b.Value(t.Context(), "moved", need("acme", "press")); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Errorf("the row of another secret: %v", err)
	}
	if usable, err := b.Usable(t.Context(), "own", need("down", "")); usable || err == nil {
		t.Errorf("without the database: %t, %v", usable, err)
	}
}

func TestConfigured(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	for project, want := range map[string][]string{"": {"both", "closed", "lost"}, "press": {"both", "closed", "lost"}, "shop": {"both", "lost"}} {
		names := []string{}
		for _, s := range b.Configured(knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Project: project})) {
			names = append(names, s.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("project %q: %s", project, diff)
		}
	}
	if list := b.Configured(knowledge.Principal{}); len(list) > 0 {
		t.Errorf("nobody may name %v", list)
	}
	for workspace, want := range map[string]bool{"acme": true, "other": false, "": false} {
		if got := b.AmbientIdentity(workspace); got != want {
			t.Errorf("%q uses the identity of the server: %t", workspace, got)
		}
	}
}
