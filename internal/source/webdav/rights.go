package webdav

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The kinds of sharees of Nextcloud that have a counterpart. Others, such as public links,
// mail addresses and users of other servers, have none: what they see, nobody else sees
// for it.
const (
	shareUser  = "0"
	shareGroup = "1"
)

// rights are who may see an entry. Shares of a folder hold for everything below.
type rights struct {
	users  []string
	groups []string
}

// with returns the rights of an entry in a folder with these rights.
func (r rights) with(e entry) rights {
	r.users, r.groups = slices.Clone(r.users), slices.Clone(r.groups)
	if e.owner != "" {
		r.users = append(r.users, e.owner)
	}
	for _, s := range e.shares {
		switch {
		case s.ID == "":
		case s.Kind == shareUser:
			r.users = append(r.users, s.ID)
		case s.Kind == shareGroup:
			r.groups = append(r.groups, s.ID)
		}
	}
	return r
}

// access returns the rights as the access of a document: each name once, in order.
func (r rights) access() *knowledge.Access {
	return &knowledge.Access{Users: source.Distinct(r.users), Groups: source.Distinct(r.groups)}
}

// rightsAbove returns the rights of the folder of the scope, with those of the folders
// above it.
func (s *Source) rightsAbove(ctx context.Context) (rights, error) {
	var r rights
	if !s.follow.Mirror {
		return r, nil
	}
	at := ""
	for _, part := range append([]string{""}, strings.FieldsFunc(s.folder, func(c rune) bool { return c == '/' })...) {
		at = strings.Trim(at+"/"+part, "/")
		e, err := s.client.stat(ctx, at, true)
		if err != nil {
			return r, err
		}
		r = r.with(e)
	}
	return r, nil
}
