package edge

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Holder is what a request depends on while it is served: the key and the session, and when
// the key or the JWT ends. The zero Holder depends on nothing.
type Holder struct {
	Key     string    // "" = a JWT
	Session string    // the hash of the cookie of a browser, "" = no browser has signed in
	Member  Member    // whose membership let a JWT in, the zero Member = none did
	Ends    time.Time // zero = never
}

// Member names a member of a workspace.
type Member struct{ Workspace, User string }

// SetHolder notes for whom a link was made with which a request is served.
func SetHolder(ctx context.Context, h Holder) { callOf(ctx).holder = &h }

// SetSender notes who sent a request to a public route, whose handler has proved it.
func SetSender(ctx context.Context, p knowledge.Principal) {
	c := callOf(ctx)
	c.proved, c.sender, c.senderWorkspace = &p, &p, p.Workspace()
}

// LinkHolder returns on what a request with a link depends: the key, the session or the member for
// whom the link was made.
func LinkHolder(link access.Link) Holder {
	holder := Holder{Key: link.Key, Ends: link.Ends}
	if link.Member != "" {
		holder.Member = Member{Workspace: link.Workspace, User: link.Member}
	}
	return holder
}

// HolderOf returns on what a request depends: its link, else its key, JWT or session.
func HolderOf(ctx context.Context) Holder {
	c := callOf(ctx)
	switch {
	case c.holder != nil:
		return *c.holder
	case c.sender != nil:
		holder := Holder{Key: c.sender.KeyID(), Session: c.senderSession, Ends: c.sender.ExpiresAt()}
		if c.sender.IsMember() {
			holder.Member = Member{c.sender.Workspace(), c.sender.User()}
		}
		return holder
	}
	return Holder{}
}
