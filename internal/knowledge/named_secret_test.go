package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestSecretAllows(t *testing.T) {
	t.Parallel()
	need := knowledge.SecretNeed{Workspace: "acme", Project: "shop", Use: knowledge.SecretInHeader, Host: "api.example.com"}
	whole := knowledge.Secret{Workspace: "acme", Uses: []knowledge.SecretUse{knowledge.SecretInHeader}, Hosts: []string{"api.example.com"}}
	for name, c := range map[string]struct {
		change  func(*knowledge.Secret, *knowledge.SecretNeed)
		allowed bool
	}{
		"its_workspace":          {func(*knowledge.Secret, *knowledge.SecretNeed) {}, true},
		"its_project":            {func(s *knowledge.Secret, _ *knowledge.SecretNeed) { s.Project = "shop" }, true},
		"another_project":        {func(s *knowledge.Secret, _ *knowledge.SecretNeed) { s.Project = "press" }, false},
		"no_project_of_several":  {func(s *knowledge.Secret, n *knowledge.SecretNeed) { s.Project, n.Project = "shop", "" }, false},
		"another_workspace":      {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Workspace = "other" }, false},
		"nobodys":                {func(s *knowledge.Secret, _ *knowledge.SecretNeed) { s.Workspace = "" }, false},
		"nobodys_for_nobody":     {func(s *knowledge.Secret, n *knowledge.SecretNeed) { s.Workspace, n.Workspace = "", "" }, false},
		"without_a_use":          {func(s *knowledge.Secret, _ *knowledge.SecretNeed) { s.Uses = nil }, false},
		"another_use":            {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Use = knowledge.SecretInImport }, false},
		"no_use_at_all":          {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Use = "" }, false},
		"without_a_host":         {func(s *knowledge.Secret, _ *knowledge.SecretNeed) { s.Hosts = nil }, false},
		"another_host":           {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Host = "api.example.net" }, false},
		"a_host_that_ends_so":    {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Host = "xapi.example.com" }, false},
		"a_host_that_begins_so":  {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Host = "api.example.com.evil.net" }, false},
		"no_host":                {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Host = "" }, false},
		"a_host_in_another_case": {func(_ *knowledge.Secret, n *knowledge.SecretNeed) { n.Host = "API.example.com." }, true},
		"below_a_pattern":        {func(s *knowledge.Secret, _ *knowledge.SecretNeed) { s.Hosts = []string{"*.example.com"} }, true},
		"the_top_of_a_pattern": {func(s *knowledge.Secret, n *knowledge.SecretNeed) {
			s.Hosts, n.Host = []string{"*.example.com"}, "example.com"
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := whole, need
			c.change(&s, &n)
			if got := s.Allows(n); got != c.allowed {
				t.Errorf("%+v for %+v: %t", s, n, got)
			}
		})
	}
}

func TestSecretFields(t *testing.T) {
	t.Parallel()
	if wrong := knowledge.SecretFields("body", knowledge.SecretUses(), []string{"api.example.com", "*.example.com", "10.0.0.1", "::1"}); wrong != nil {
		t.Errorf("refused %v", wrong)
	}
	for _, host := range []string{"https://x.net", "x.net:443", "*", "*.", "X.net", "", "a/b", "user@x.net"} {
		if wrong := knowledge.SecretFields("body", nil, []string{host}); len(wrong) != 1 || wrong[0].Location != "body.hosts" {
			t.Errorf("%q: %v", host, wrong)
		}
	}
	if wrong := knowledge.SecretFields("body", []knowledge.SecretUse{"query"}, nil); len(wrong) != 1 || wrong[0].Location != "body.uses" {
		t.Errorf("a use that there is not: %v", wrong)
	}
}
