package api_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestConnectionsOfOtherTypes has connections to repositories and mailboxes, and the scopes of
// their syncs.
func TestConnectionsOfOtherTypes(t *testing.T) {
	t.Parallel()
	e := open(t)
	for body, location := range map[string]string{
		`{"type":"git","options":{"url":"ssh://git@github.com/example/a.git"}}`:                                                   "body.options.url",
		`{"type":"git","options":{"url":"https://github.com/example","auth":"password"}}`:                                         "body.options.auth",
		`{"type":"imap","options":{"url":"https://mail.test","username":"ann"},"secret":"x"}`:                                     "body.options.url",
		`{"type":"imap","options":{"url":"imaps://mail.test"},"secret":"x"}`:                                                      "body.options.username",
		`{"type":"imap","options":{"url":"imaps://mail.test","username":"ann","auth":"kerberos"},"secret":"x"}`:                   "body.options.auth",
		`{"type":"imap","options":{"url":"imaps://mail.test","username":"ann"}}`:                                                  "body.secret",
		`{"type":"imap","options":{"url":"imaps://mail.test","username":"ann","subject":"bob"},"secret":"x"}`:                     "body.options.subject",
		`{"type":"webdav","options":{"url":"https://cloud.test/remote.php/dav/files/ann/","auth":"xoauth2"},"secret":"password"}`: "body.options.auth",
	} {
		if got := e.do("POST", own+"/connections", e.admin, body).refused(422, knowledge.CodeInvalid); got[0] != location {
			t.Errorf("%s: the error names %v", body, got)
		}
	}
	made := func(body string) string {
		t.Helper()
		var c struct{ ID string }
		e.decoded(e.do("POST", own+"/connections", e.admin, body), 201, &c)
		return c.ID
	}
	git := made(`{"type":"git","options":{"url":"https://github.com/example"},"secret":"token"}`)
	mail := made(`{"type":"imap","options":{"url":"imaps://mail.test","username":"ann"},"secret":"x"}`)
	for _, c := range []struct{ connection, fields, location string }{
		{git, `"permissions":"mirror"`, "body.permissions"},
		{git, `"scope":{"mailbox":"INBOX"}`, "body.scope.mailbox"},
		{git, `"scope":{"repository":"https://other.test/example/a"}`, "body.scope.repository"},
		{git, `"scope":{"repository":"a.git","branch":"refs/heads/main"}`, "body.scope.branch"},
		{mail, `"permissions":"mirror"`, "body.permissions"},
		{mail, `"scope":{"folder":"a"}`, "body.scope.folder"},
		{mail, `"scope":{"mailbox":"a\nb"}`, "body.scope.mailbox"},
	} {
		if got := e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+c.connection+`",`+c.fields+`}`).refused(422, knowledge.CodeInvalid); got[0] != c.location {
			t.Errorf("%s: the error names %v", c.fields, got)
		}
	}
	for fields, place := range map[string]string{
		`"scope":{"repository":"a.git","branch":"main","folder":"docs"}`: "https://github.com/example/a.git/main/docs",
		`"scope":{"repository":"https://github.com/example/b"}`:          "https://github.com/example/b",
	} {
		var y struct{ Place string }
		e.decoded(e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+git+`",`+fields+`}`), 202, &y)
		if y.Place != place {
			t.Errorf("the place of %s is %q", fields, y.Place)
		}
	}
}
