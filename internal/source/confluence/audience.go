package confluence

import (
	"cmp"
	"context"
	"maps"
)

// user is an account. Of the names, Confluence shows some: none of them in each place.
type user struct {
	AccountID string `json:"accountId"` // in the cloud
	UserKey   string `json:"userKey"`   // in a data center
	Username  string `json:"username"`
	Email     string `json:"email"`
}

func (u user) id() string { return cmp.Or(u.AccountID, u.UserKey, u.Username) }

// group is a group. Only the cloud has ids.
type group struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (g group) id() string { return cmp.Or(g.ID, g.Name) }

// audience are the people who may read something: users, and the members of groups.
type audience struct {
	everybody bool // also people who have not signed in
	users     map[string]user
	groups    map[string]group
}

// restrictions are the readers to whom a content is restricted. All of it is nil if
// Confluence does not tell it.
type restrictions struct {
	Read *struct {
		Restrictions *struct {
			Users  *results[user]  `json:"user"`
			Groups *results[group] `json:"group"`
		} `json:"restrictions"`
	} `json:"read"`
}

// audience returns the readers: everybody if the content is not restricted, and nobody if that
// is not known.
func (r restrictions) audience() audience {
	if r.Read == nil || r.Read.Restrictions == nil || r.Read.Restrictions.Users == nil || r.Read.Restrictions.Groups == nil {
		return audience{}
	}
	users, groups := r.Read.Restrictions.Users.Results, r.Read.Restrictions.Groups.Results
	return audienceOf(len(users)+len(groups) == 0, users, groups)
}

func audienceOf(everybody bool, users []user, groups []group) audience {
	a := audience{everybody: everybody, users: map[string]user{}, groups: map[string]group{}}
	for _, u := range users {
		a.users[u.id()] = u
	}
	for _, g := range groups {
		a.groups[g.id()] = g
	}
	delete(a.users, "")
	delete(a.groups, "")
	return a
}

// both returns the people who are in both audiences. A group that only one of them has
// counts by its members of now.
func (r *rights) both(ctx context.Context, a, b audience) (audience, error) {
	if a.everybody {
		return b, nil
	}
	if b.everybody {
		return a, nil
	}
	out := audienceOf(false, nil, nil)
	for id, g := range a.groups {
		if _, in := b.groups[id]; in {
			out.groups[id] = g
		}
	}
	for _, side := range [][2]audience{{a, b}, {b, a}} {
		for id, u := range side[0].users {
			in, err := r.includes(ctx, side[1], id)
			if err != nil {
				return out, err
			}
			if in {
				out.users[id] = u
			}
		}
	}
	return out, r.addShared(ctx, &out, a, b)
}

// includes reports whether a user is in an audience.
func (r *rights) includes(ctx context.Context, a audience, id string) (bool, error) {
	if _, in := a.users[id]; in {
		return true, nil
	}
	for _, g := range a.groups {
		members, err := r.members(ctx, g)
		if err != nil {
			return false, err
		}
		if _, in := members[id]; in {
			return true, nil
		}
	}
	return false, nil
}

// addShared adds the people who are in one audience by a group, and in the other by another
// group.
func (r *rights) addShared(ctx context.Context, out *audience, a, b audience) error {
	for id, g := range a.groups {
		for other, h := range b.groups {
			_, kept := out.groups[id]
			_, keptOther := out.groups[other]
			if kept || keptOther {
				continue
			}
			left, err := r.members(ctx, g)
			if err != nil {
				return err
			}
			right, err := r.members(ctx, h)
			if err != nil {
				return err
			}
			for u := range maps.Keys(left) {
				if _, in := right[u]; in {
					out.users[u] = left[u]
				}
			}
		}
	}
	return nil
}
