package question_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/question"
)

func TestSetupOfTags(t *testing.T) {
	t.Parallel()
	f := open(t)
	change := func(ai func(*knowledge.AIConfig)) knowledge.Project {
		project, err := f.store.UpdateProject(t.Context(), f.reader, "p", func(p *knowledge.Project) error {
			ai(&p.Config.AI)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return project
	}
	restricted := func(ai *knowledge.AIConfig) {
		ai.Tags = []string{"shop", "site"}
		ai.MandatoryTags = []knowledge.MandatoryTags{
			{Users: []string{"ann"}, Tags: []string{"north"}}, {Groups: []string{"staff"}, Tags: []string{"internal"}}, {Users: []string{"bob"}, Tags: []string{"south"}},
		}
	}
	user := func(name string, groups ...string) knowledge.Principal {
		return knowledgetest.Principal(knowledge.Claims{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}, User: name, Groups: groups})
	}
	setup := func(p knowledge.Principal, project knowledge.Project, r question.Request) question.Setup {
		t.Helper()
		got, err := f.starter.Setup(t.Context(), p, project, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	oneOf := func(tags ...string) knowledge.Condition {
		return knowledge.Condition{Field: "tags", Type: knowledge.OpIn, Value: tags}
	}
	project := change(func(*knowledge.AIConfig) {})
	everywhere := knowledge.Project{Workspace: "default"}

	if got := setup(user("ann"), project, question.Request{}); got.Filter != nil || got.Scope != nil || len(got.Projects) != 1 {
		t.Errorf("without tags: %+v", got)
	}
	if got := setup(user("ann"), everywhere, question.Request{}); got.Projects != nil {
		t.Errorf("of all projects: %v", got.Projects)
	}
	project = change(restricted)
	own := knowledge.Condition{Field: "name", Type: knowledge.OpEq, Value: "x"}
	got := setup(user("ann", "staff"), project, question.Request{Filter: knowledge.Filter{own}, Tags: []string{"a", "b"}})
	want := []knowledge.Filter{{own, oneOf("a", "b")}, {oneOf("shop", "site"), oneOf("north", "internal")}}
	if diff := cmp.Diff(want, []knowledge.Filter{got.Filter, got.Scope}); diff != "" {
		t.Errorf("the tags of user and project and the mandatory ones: %s", diff)
	}
	if diff := cmp.Diff(knowledge.Filter{oneOf("shop", "site")}, setup(user("eve"), project, question.Request{}).Scope); diff != "" {
		t.Errorf("without mandatory tags: %s", diff)
	}

	for _, override := range []string{`{"ai":{"mandatoryTags":[]}}`, `{"ai":{"tags":["other"]}}`, `{"ai":{"tags":null}}`} {
		if _, err := f.starter.Setup(t.Context(), user("ann"), project, question.Request{Override: []byte(override)}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%s lifts a restriction: %v", override, err)
		}
	}

	// A question of all projects leaves out the one that restricts the user.
	if _, err := f.starter.Setup(t.Context(), user("ann"), everywhere, question.Request{}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Errorf("no project is left: %v", err)
	}
	if err := f.store.CreateProject(t.Context(), knowledge.Project{ID: "q", Workspace: "default", Name: "Open"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q"}, setup(user("ann"), everywhere, question.Request{}).Projects); diff != "" {
		t.Error(diff)
	}
	if got := setup(user("eve"), everywhere, question.Request{}); got.Projects != nil {
		t.Errorf("nothing restricts eve: %v", got.Projects)
	}
}

func TestSetupOfPreferredTags(t *testing.T) {
	t.Parallel()
	f := open(t)
	if err := f.store.SetPreferences(t.Context(), f.reader, []byte(`{"rag":{"tags":["mine"]}}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode string
		tags []string
		want knowledge.Filter
	}{
		{"disabled", nil, nil},
		{"user", nil, knowledge.AnyTag([]string{"mine"})},
		{"user", []string{"now"}, knowledge.AnyTag([]string{"now"})},
		{"enabled", []string{"now"}, knowledge.AnyTag([]string{"now"})},
	} {
		project := knowledge.Project{ID: "p", Workspace: "default"}
		project.Config.AI.SelfQuery = c.mode
		got, err := f.starter.Setup(t.Context(), f.reader, project, question.Request{Tags: c.tags})
		if diff := cmp.Diff(c.want, got.Filter); diff != "" || err != nil {
			t.Errorf("%s %v: %v %s", c.mode, c.tags, err, diff)
		}
	}
}
