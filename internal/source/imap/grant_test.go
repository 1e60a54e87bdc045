package imap_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/imap"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/throttle"
)

// login is a service that gives access tokens, of which the mailbox takes the last one.
type login struct {
	*sourcetest.IMAP
	forms   []string
	refuses bool
}

// ServeHTTP implements http.Handler.
func (l *login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	l.forms = append(l.forms, r.Form.Encode())
	if l.refuses || r.Host != "login.test" || r.Form.Get("client_id") != "app" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	l.Password = fmt.Sprint("token ", len(l.forms))
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, l.Password)
}

const refreshed = `{"token_url":"https://login.test/token","client_id":"app","refresh_token":"r","client_secret":"s","scope":"mail offline"}`

// granted opens a mailbox by a grant.
func granted(l *login, secret string) source.Source {
	f := place("")
	f.Options.Auth, f.Credentials = "xoauth2", secret
	return imap.Plain(imap.New(f, l.Dialer(nil), throttle.NewGate(time.Time{}, nil), sourcetest.Local(l)))
}

// TestTokensAreRenewed has a token that ends while a mailbox is followed, and one that the
// server refuses before its end.
func TestTokensAreRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &login{IMAP: sourcetest.NewIMAP(sourcetest.NewWorld("ann"))}
		s := granted(l, refreshed)
		list := func(tokens int) {
			t.Helper()
			if _, err := s.List(t.Context(), ""); err != nil || len(l.forms) != tokens {
				t.Errorf("the service gave %d tokens, want %d: %v", len(l.forms), tokens, err)
			}
			time.Sleep(time.Minute) // the session ends
		}
		list(1)
		list(1)
		time.Sleep(52 * time.Minute)
		list(1)
		list(2) // less than five minutes are left
		l.Password = "another one"
		list(3)
		if want := "client_id=app&client_secret=s&grant_type=refresh_token&refresh_token=r&scope=mail+offline"; l.forms[0] != want {
			t.Errorf("asked is %s, want %s", l.forms[0], want)
		}
		time.Sleep(time.Hour)
		l.refuses = true
		if _, err := s.List(t.Context(), ""); !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "refresh_token") {
			t.Errorf("a withdrawn grant: %v", err)
		}
	})
}

// TestANewTokenThatIsRefused has a mailbox that takes no token of the service: it is asked for
// one token only.
func TestANewTokenThatIsRefused(t *testing.T) {
	t.Parallel()
	l := &login{IMAP: sourcetest.NewIMAP(sourcetest.NewWorld("ann"))}
	l.Username = "eve"
	_, err := granted(l, `{"token_url":"https://login.test/token","client_id":"app","client_secret":"s"}`).List(t.Context(), "")
	if !knowledge.IsCode(err, knowledge.CodeForbidden) || len(l.forms) != 1 || l.forms[0] != "client_id=app&client_secret=s&grant_type=client_credentials" {
		t.Errorf("%v, asked is %q", err, l.forms)
	}
}

// TestGrants has secrets that no token can be asked for with.
func TestGrants(t *testing.T) {
	t.Parallel()
	for secret, right := range map[string]bool{
		"ya29.token": true,
		refreshed:    true,
		`{"token_url":"https://login.test/token","client_id":"app","client_secret":"s"}`: true,
		`{"token_url":"http://login.test/token","client_id":"app","client_secret":"s"}`:  false,
		`{"token_url":"https://login.test/token","client_id":"app"}`:                     false,
		`{"token_url":"https://login.test/token","client_secret":"s"}`:                   false,
		`{"client_id":"app","refresh_token":"r"}`:                                        false,
		`{"token_url":`: false,
	} {
		f := place("")
		f.Options.Auth, f.Credentials = "xoauth2", secret
		if err := imap.CheckConnection(f); (err == nil) != right || err != nil && !strings.Contains(err.Error(), "body.secret") {
			t.Errorf("%s: %v", secret, err)
		}
		f.Options.Auth = ""
		if err := imap.CheckConnection(f); err != nil {
			t.Errorf("%s as a password: %v", secret, err)
		}
	}
}
