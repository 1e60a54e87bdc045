package access

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Levels returns the levels of classification of the instance.
func (a *Authenticator) Levels() knowledge.Levels { return a.cfg.Levels }

// clear sets the clearance of claims: the highest of those that were given. Claims to whom
// nobody gave one have the base level, and the highest if they may give it to themselves: a
// bound would be none.
func (a *Authenticator) clear(c *knowledge.Claims, given ...string) {
	given = slices.DeleteFunc(given, func(level string) bool { return level == "" })
	if len(given) == 0 && slices.Contains(c.Permissions, knowledge.MembersWrite) {
		c.Implied = true
		a.setClearance(c, a.cfg.Levels.Top())
		return
	}
	highest := a.cfg.Levels.Base()
	for i, level := range given {
		if i == 0 || a.cfg.Levels.Below(highest, level) {
			highest = level
		}
	}
	a.setClearance(c, highest)
}

// setClearance sets a clearance and what it covers. A word that is no level counts as the base.
func (a *Authenticator) setClearance(c *knowledge.Claims, level string) {
	if !a.cfg.Levels.Has(level) {
		level = a.cfg.Levels.Base()
	}
	c.Clearance, c.Covered = level, a.cfg.Levels.Covered(level)
}

// ofKeyAndAccount returns the clearance that was given to a key: the lower one of its own and
// that of the service account that it belongs to.
func (a *Authenticator) ofKeyAndAccount(key store.Key, account *store.Member) string {
	switch {
	case account == nil || account.Clearance == "":
		return key.Clearance
	case key.Clearance == "":
		return account.Clearance
	}
	return a.lower(key.Clearance, account.Clearance)
}

func (a *Authenticator) lower(x, y string) string {
	if a.cfg.Levels.Below(x, y) {
		return x
	}
	return y
}

// clearFor sets the clearance of claims of a key that act for an end user. A member of that
// name bounds it. A clearance that nobody gave does not reach the key's users: they have
// what their membership says, else the base level.
func (a *Authenticator) clearFor(ctx context.Context, c *knowledge.Claims) error {
	var ofMember string
	if c.User != "" {
		member, err := a.person(ctx, c.Workspace, c.User)
		if err != nil {
			return err
		}
		if member != nil {
			ofMember = member.Clearance
		}
	}
	switch {
	case c.Implied && ofMember == "":
		a.setClearance(c, a.cfg.Levels.Base())
	case c.Implied:
		a.setClearance(c, ofMember)
	case ofMember != "":
		a.setClearance(c, a.lower(c.Clearance, ofMember))
	}
	return nil
}
