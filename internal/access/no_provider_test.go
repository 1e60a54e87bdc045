package access_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestSignInWithoutAnIdentityProvider(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{})
	_, _, err := i.BeginSignIn(t.Context(), "", "https://cairn.example.com/auth/callback", "/")
	wantCode(t, err, knowledge.CodeNotFound)
	_, _, err = i.FinishSignIn(t.Context(), access.SignInAnswer{State: "a", Code: "b", Browser: "c"})
	wantCode(t, err, knowledge.CodeNotFound)
	for address, want := range map[string]string{
		"/documents?status=error": "/documents?status=error", "": "/", "//evil.example.com": "/", "https://evil.example.com": "/",
		"/\\evil.example.com": "/", "javascript:alert(1)": "/", "/a\r\nSet-Cookie: b": "/",
	} {
		if got := access.PageWithin(address); got != want {
			t.Errorf("a sign-in that asks for %q returns to %q, want %q", address, got, want)
		}
	}
}
