package access_test

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestVisitors proves visitors at the edges of the life of their tokens, and for one publication
// alone.
func TestVisitors(t *testing.T) {
	t.Parallel()
	a := access.New(access.Config{Levels: knowledge.Levels{Names: []string{"open", "closed"}, Default: "closed"}}, nil, []byte("a secret to sign with"))
	pub := knowledge.Publication{Workspace: "acme", Project: "handbook", PublicationSettings: knowledge.PublicationSettings{Limits: knowledge.PublicationLimits{VisitorRequests: 7}}}
	other := knowledge.Publication{Workspace: "acme", Project: "press"}
	now := time.Now()
	token := a.SignVisitor(pub, "one", now.Add(time.Hour))
	p, err := a.Visitor(pub, "secret", token, now)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Claims()
	if p.Owner() != "x:visitor:one" || p.Workspace() != "acme" || p.Project() != "handbook" || len(c.Permissions) > 0 || p.Can(knowledge.ScopeWrite) || c.UserLimits.RequestsPerMinute != 7 {
		t.Errorf("the visitor is %+v", c)
	}
	if !p.Covers("") || !p.Covers("open") || p.Covers("closed") || p.Covers("unknown") {
		t.Errorf("the visitor reaches %q", p.Covered())
	}
	share := a.SignShare(p, knowledge.Share{ID: "link", Conversation: "talk", ExpiresAt: now.Add(time.Hour)})
	for name, refused := range map[string]func() error{
		"too late": func() error {
			_, err := a.Visitor(pub, "secret", token, now.Add(time.Hour+time.Second))
			return err
		},
		"for another project": func() error {
			_, err := a.Visitor(other, "secret", token, now)
			return err
		},
		"the token of a link": func() error {
			_, err := a.Visitor(pub, "secret", share, now)
			return err
		},
		"a link that has ended": func() error {
			_, _, err := a.VisitorOfShare(pub, share, now.Add(2*time.Hour))
			return err
		},
		"a link to another project": func() error {
			_, _, err := a.VisitorOfShare(other, share, now)
			return err
		},
		"the token of a visitor as a link": func() error {
			_, _, err := a.VisitorOfShare(pub, token, now)
			return err
		},
	} {
		if err := refused(); !knowledge.IsCode(err, knowledge.CodeUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if q, opened, err := a.VisitorOfShare(pub, share, now); err != nil || opened.Conversation != "talk" || opened.ID != "link" || q.Owner() != p.Owner() {
		t.Errorf("the link opens %+v of %s, %v", opened, q.Owner(), err)
	}
}
