package access_test

import (
	"slices"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// clearedFor fails the test if a principal has another clearance.
func clearedFor(t *testing.T, p knowledge.Principal, want string) {
	t.Helper()
	covers := slices.Contains(p.Covered(), want) && (want != "internal" || p.Covers("") && !p.Covers("confidential"))
	if p.Clearance() != want || !covers || p.CoversEveryLevel() != (want == "restricted") {
		t.Errorf("cleared for %s, covering %q; want %s", p.Clearance(), p.Covered(), want)
	}
}

func TestClearanceOfTokens(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{Secret: jwtSecret})
	i.member(t, store.Member{Name: "mia", Roles: []string{"reader"}, Clearance: "confidential"})
	i.member(t, store.Member{Name: "ada", Roles: []string{"admin"}})
	i.member(t, store.Member{Name: "low", Roles: []string{"admin"}, Clearance: "public"})
	i.member(t, store.Member{Name: "old", Roles: []string{"reader"}, Clearance: "a word of before"})
	reader := func(level string) func(jwt.MapClaims) {
		return func(c jwt.MapClaims) {
			c["roles"] = []string{"reader"}
			if level != "" {
				c["clearance"] = level
			}
		}
	}
	for name, test := range map[string]struct {
		credentials access.Credentials
		want        string
	}{
		"a reader without one":               {token(t, "zoe", reader("")), "internal"},
		"a claim":                            {token(t, "zoe", reader("restricted")), "restricted"},
		"a claim that is no level":           {token(t, "zoe", reader("cosmic")), "internal"},
		"a low claim":                        {token(t, "zoe", reader("public")), "public"},
		"a member":                           {token(t, "mia"), "confidential"},
		"a member with a higher claim":       {token(t, "mia", reader("restricted")), "restricted"},
		"a member with a lower claim":        {token(t, "mia", reader("public")), "confidential"},
		"a member who may give clearances":   {token(t, "ada"), "restricted"},
		"an administrator with a clearance":  {token(t, "low"), "public"},
		"a member with a word of before":     {token(t, "old"), "internal"},
		"an administrator by the token":      {token(t, "zoe", func(c jwt.MapClaims) { c["roles"] = []string{"admin"} }), "restricted"},
		"an editor has none by his role":     {token(t, "zoe", func(c jwt.MapClaims) { c["roles"] = []string{"editor"} }), "internal"},
		"an administrator with a low claim":  {token(t, "zoe", func(c jwt.MapClaims) { c["roles"], c["clearance"] = []string{"admin"}, "internal" }), "internal"},
		"a claim of another type is refused": {token(t, "zoe", func(c jwt.MapClaims) { c["clearance"] = 7 }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.want == "" {
				_, err := i.Authenticate(t.Context(), test.credentials)
				wantCode(t, err, knowledge.CodeUnauthorized)
				return
			}
			clearedFor(t, i.principal(t, test.credentials), test.want)
		})
	}
}

func TestClearanceOfKeys(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{})
	i.member(t, store.Member{Name: "mia", Roles: []string{"reader"}, Clearance: "confidential"})
	i.member(t, store.Member{Name: "robot", Kind: store.ServiceMember, Roles: []string{"reader"}, Clearance: "confidential"})
	scopes := func(s ...knowledge.Scope) []knowledge.Scope { return s }
	for name, test := range map[string]struct {
		key    store.Key
		acting access.Acting
		want   string
	}{
		"a reader":                                {store.Key{Scopes: scopes("read")}, access.Acting{}, "internal"},
		"an editor":                               {store.Key{Scopes: scopes("write")}, access.Acting{}, "internal"},
		"an administrator":                        {store.Key{Scopes: scopes("admin")}, access.Acting{}, "restricted"},
		"a key with a clearance":                  {store.Key{Scopes: scopes("read"), Clearance: "confidential"}, access.Acting{}, "confidential"},
		"an administrator with a lower one":       {store.Key{Scopes: scopes("admin"), Clearance: "public"}, access.Acting{}, "public"},
		"a service account":                       {store.Key{Member: "robot"}, access.Acting{}, "confidential"},
		"a key of an account with a higher one":   {store.Key{Member: "robot", Clearance: "restricted"}, access.Acting{}, "confidential"},
		"an administrator for a user":             {store.Key{Scopes: scopes("admin")}, access.Acting{User: "zoe"}, "internal"},
		"an administrator for a customer":         {store.Key{Scopes: scopes("admin")}, access.Acting{ExternalUser: "zoe"}, "internal"},
		"an administrator for a member":           {store.Key{Scopes: scopes("admin")}, access.Acting{User: "mia"}, "confidential"},
		"a customer with the name of a member":    {store.Key{Scopes: scopes("admin")}, access.Acting{ExternalUser: "mia"}, "internal"},
		"a key with a clearance for a user":       {store.Key{Scopes: scopes("read"), Clearance: "restricted"}, access.Acting{User: "zoe"}, "restricted"},
		"a key with a higher one for a member":    {store.Key{Scopes: scopes("read"), Clearance: "restricted"}, access.Acting{User: "mia"}, "confidential"},
		"a key with a lower one for a member":     {store.Key{Scopes: scopes("read"), Clearance: "public"}, access.Acting{User: "mia"}, "public"},
		"a reader for a member with a higher one": {store.Key{Scopes: scopes("read")}, access.Acting{User: "mia"}, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.key.Workspace, test.key.Name = "default", name
			p, err := i.As(t.Context(), i.principal(t, access.Credentials{Key: i.key(t, test.key)}), test.acting)
			if err != nil {
				t.Fatal(err)
			}
			clearedFor(t, p, test.want)
		})
	}
}

func TestLevelsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{Levels: knowledge.Levels{Names: []string{"open", "staff", "board"}, Default: "staff"}})
	for level, want := range map[string][]string{
		"": {"", "open", "staff"}, "open": {"open"}, "board": {"", "open", "staff", "board", knowledge.EveryLevel}, "restricted": {"", "open", "staff"},
	} {
		p := i.principal(t, access.Credentials{Key: i.key(t, store.Key{Workspace: "default", Name: level, Scopes: []knowledge.Scope{knowledge.ScopeRead}, Clearance: level})})
		if !slices.Equal(p.Covered(), want) {
			t.Errorf("the clearance %q covers %q, want %q", level, p.Covered(), want)
		}
	}
}
