package access_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestRunTokens(t *testing.T) {
	t.Parallel()
	a := open(t, access.Config{Secret: jwtSecret})
	now := time.Now()
	p := a.principal(t, access.Credentials{Key: a.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}})})
	token := a.SignRun(p, "run-1", now.Add(time.Hour))

	t.Run("a_token_opens_its_run_until_it_expires", func(t *testing.T) {
		t.Parallel()
		if link, err := a.VerifyRun(t.Context(), token, "run-1", now); err != nil || link.Workspace != "default" || link.Key != p.KeyID() {
			t.Errorf("link %+v, %v", link, err)
		}
		_, err := a.VerifyRun(t.Context(), token, "run-1", now.Add(time.Hour))
		wantCode(t, err, knowledge.CodeUnauthorized)
		if token != strings.Trim(token, "+/=") || strings.ContainsAny(token, "+/=&?") {
			t.Errorf("token %q does not fit into a URL", token)
		}
	})
	t.Run("a_token_of_another_run_or_secret_is_refused", func(t *testing.T) {
		t.Parallel()
		_, err := a.VerifyRun(t.Context(), token, "run-2", now)
		wantCode(t, err, knowledge.CodeUnauthorized)
		for _, secret := range []string{"another", ""} {
			_, err = access.New(access.Config{}, a.store, []byte(secret)).VerifyRun(t.Context(), token, "run-1", now)
			wantCode(t, err, knowledge.CodeUnauthorized)
		}
		none := access.New(access.Config{}, a.store, nil)
		_, err = none.VerifyRun(t.Context(), none.SignRun(p, "run-1", now.Add(time.Hour)), "run-1", now)
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
	t.Run("a_changed_token_is_refused", func(t *testing.T) {
		t.Parallel()
		body, mac, _ := strings.Cut(token, ".")
		longer := base64.RawURLEncoding.EncodeToString([]byte(`{"w":"default","r":"run-1","e":9999999999,"u":"ann"}`))
		for _, forged := range []string{"", ".", body, body + ".", "." + mac, longer + "." + mac, mac + "." + body, token + "A", token + "."} {
			_, err := a.VerifyRun(t.Context(), forged, "run-1", now)
			wantCode(t, err, knowledge.CodeUnauthorized)
		}
	})
	t.Run("a_token_ends_with_its_key", func(t *testing.T) {
		t.Parallel()
		p := a.principal(t, access.Credentials{Key: a.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})})
		until := now.Add(time.Hour)
		open := map[string]func() error{
			"a run": func() error { _, err := a.VerifyRun(t.Context(), a.SignRun(p, "r", until), "r", now); return err },
			"an original": func() error {
				_, _, err := a.VerifyOriginal(t.Context(), a.SignOriginal(p, "d", "", until), "d", now)
				return err
			},
			"a file": func() error {
				_, err := a.VerifyRunFile(t.Context(), a.SignRunFile(p, "r", "f", until), "r", "f", now)
				return err
			},
		}
		for what, open := range open {
			if err := open(); err != nil {
				t.Errorf("the link of %s: %v", what, err)
			}
		}
		if err := a.store.RevokeKey(t.Context(), p, p.KeyID()); err != nil {
			t.Fatal(err)
		}
		for _, open := range open {
			wantCode(t, open(), knowledge.CodeUnauthorized)
		}
	})
	t.Run("a_token_does_not_outlive_the_JWT_that_it_was_made_for", func(t *testing.T) {
		t.Parallel()
		end := now.Add(time.Minute).Truncate(time.Second)
		ann := knowledge.NewPrincipal(knowledge.Claims{Workspace: "default", User: "ann", Expires: end.Unix()})
		token := a.SignRun(ann, "r", now.Add(time.Hour))
		if link, err := a.VerifyRun(t.Context(), token, "r", end.Add(-time.Second)); err != nil || !link.Ends.Equal(end) {
			t.Errorf("link %+v, %v", link, err)
		}
		_, err := a.VerifyRun(t.Context(), token, "r", end)
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
	t.Run("a_token_for_nobody_is_refused", func(t *testing.T) {
		t.Parallel()
		nobody := knowledge.NewPrincipal(knowledge.Claims{Workspace: "default"})
		_, err := a.VerifyRun(t.Context(), a.SignRun(nobody, "r", now.Add(time.Hour)), "r", now)
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
}
