package git_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/git"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://github.com/example":          true,
		"https://git.example.com/a/b.git":     true,
		"ssh://git@github.com/example/a.git":  false,
		"git@github.com:example/a.git":        false,
		"file:///etc":                         false,
		"/etc":                                false,
		"https://ann:token@github.com/a":      false,
		"https://github.com/a?private_token=": false,
	} {
		err := git.CheckConnection(source.Follow{Options: source.Settings{URL: address}})
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "body.options.url") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, c := range []struct {
		scope source.Scope
		field string // "" = it is accepted
	}{
		{source.Scope{}, ""},
		{source.Scope{Repository: "a.git", Branch: "feature/lamps", Folder: "/docs/"}, ""},
		{source.Scope{Repository: "https://github.com/example/a"}, ""},
		{source.Scope{Repository: "https://evil.example.com/example/a"}, "repository"},
		{source.Scope{Repository: "https://github.com/example2"}, "repository"},
		{source.Scope{Repository: "../other"}, "repository"},
		{source.Scope{Repository: "a?x=y"}, "repository"},
		{source.Scope{Branch: "refs/heads/main"}, "branch"},
		{source.Scope{Branch: "a b"}, "branch"},
		{source.Scope{Folder: "a/../b"}, "folder"},
	} {
		err := git.CheckScope(source.Follow{Options: source.Settings{URL: "https://github.com/example"}, Scope: c.scope})
		if (c.field == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), "body.scope."+c.field) {
			t.Errorf("%+v: %v", c.scope, err)
		}
	}
}

// TestRefusals has servers that do not give the repository.
func TestRefusals(t *testing.T) {
	t.Parallel()
	fake := sourcetest.NewGit(sourcetest.NewWorld("ann"))
	try := func(h http.Handler, change func(*source.Follow)) error {
		f := place("")
		change(&f)
		return git.Try(t.Context(), f, sourcetest.Local(h))
	}
	nothing := func(*source.Follow) {}
	if err := try(fake, nothing); err != nil {
		t.Fatalf("the repository is refused: %v", err)
	}
	redirect := func(to string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/old/") {
				http.Redirect(w, r, to+strings.TrimPrefix(r.URL.Path, "/old")+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
				return
			}
			fake.ServeHTTP(w, r)
		})
	}
	old := func(f *source.Follow) { f.Scope.Repository = "old" + sourcetest.GitPath }
	if err := try(redirect(host), old); err != nil {
		t.Errorf("a redirect on the same server: %v", err)
	}
	for name, c := range map[string]struct {
		handler http.Handler
		change  func(*source.Follow)
		code    knowledge.Code
		says    string
	}{
		"a wrong secret":             {fake, func(f *source.Follow) { f.Credentials = "x" }, knowledge.CodeForbidden, "a token that may read the repository"},
		"no such repository":         {fake, func(f *source.Follow) { f.Scope.Repository = "none" }, knowledge.CodeNotFound, "scope.repository"},
		"no such branch":             {fake, func(f *source.Follow) { f.Scope.Branch = "none" }, knowledge.CodeNotFound, "scope.branch"},
		"a redirect to another host": {redirect("http://evil.test"), old, knowledge.CodeInvalid, "another server"},
		"a page":                     {page("text/html", "<html>"), nothing, knowledge.CodeInvalid, "not the address of a Git repository"},
		"an old server":              {page(advertisement, "001e# service=git-upload-pack\n00000032"+strings.Repeat("a", 40)+" HEAD\n0000"), nothing, knowledge.CodeInvalid, "version 2"},
		"other names of objects":     {page(advertisement, "000eversion 2\n0018object-format=sha2560000"), nothing, knowledge.CodeInvalid, "sha1"},
		"half an answer":             {page(advertisement, "000eversion 2\n00"), nothing, knowledge.CodeUnavailable, ""},
	} {
		if err := try(c.handler, c.change); !knowledge.IsCode(err, c.code) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const advertisement = "application/x-git-upload-pack-advertisement"

// page answers every request with the same body.
func page(kind, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	})
}
