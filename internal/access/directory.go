package access

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// directoryAge is how long the directory trusts what it has read: a change of a role or a
	// member shows in every process within it.
	directoryAge = time.Second
	// maxDirectory is how many members it remembers.
	maxDirectory = 10_000
)

// directory knows the roles and the members of workspaces, and who is in the groups of services,
// as they were a moment ago. It is
// safe for concurrent use.
type directory struct {
	store Store

	mu      sync.Mutex
	roles   map[string]seen[map[string][]knowledge.Permission] // of a workspace, by their names
	members map[[2]string]seen[*store.Member]                  // by workspace and name; nil = there is none
	groups  map[[2]string]seen[[]string]                       // of services, by workspace and name of a person
}

// seen is what was read at a time.
type seen[T any] struct {
	value T
	at    time.Time
}

// isFresh reports whether it was read a moment ago.
func (s seen[T]) isFresh(now time.Time) bool { return now.Sub(s.at) < directoryAge }

func newDirectory(s Store) *directory {
	return &directory{store: s, roles: map[string]seen[map[string][]knowledge.Permission]{}, members: map[[2]string]seen[*store.Member]{}, groups: map[[2]string]seen[[]string]{}}
}

// role returns the permissions of a role that a workspace has defined, none for a role that
// it has not.
func (d *directory) role(ctx context.Context, workspace, name string) ([]knowledge.Permission, error) {
	d.mu.Lock()
	known := d.roles[workspace]
	d.mu.Unlock()
	if known.isFresh(time.Now()) {
		return known.value[name], nil
	}
	return d.readRole(ctx, workspace, name)
}

// readRole is role, as the store has it now.
func (d *directory) readRole(ctx context.Context, workspace, name string) ([]knowledge.Permission, error) {
	at := time.Now()
	roles, err := d.store.RolesOf(ctx, workspace)
	if err != nil {
		return nil, fmt.Errorf("read the roles of workspace %s: %w", workspace, err)
	}
	byName := make(map[string][]knowledge.Permission, len(roles))
	for _, role := range roles {
		byName[role.Name] = role.Permissions
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roles[workspace] = seen[map[string][]knowledge.Permission]{byName, at}
	return byName[name], nil
}

// member returns the member whom a token calls name, nil if there is none or its time is over.
func (d *directory) member(ctx context.Context, workspace, name string) (*store.Member, error) {
	key, now := [2]string{workspace, name}, time.Now()
	d.mu.Lock()
	known := d.members[key]
	d.mu.Unlock()
	if !known.isFresh(now) {
		m, there, err := d.store.MemberBySubject(ctx, workspace, name)
		if err != nil {
			return nil, fmt.Errorf("look up member %s: %w", name, err)
		}
		if known = (seen[*store.Member]{at: now}); there {
			known.value = &m
		}
		remember(d, d.members, key, known)
	}
	if m := known.value; m != nil && (!m.DeactivatedAt.IsZero() || m.ExpiresAt.IsZero() || m.ExpiresAt.After(time.Now())) {
		return m, nil
	}
	return nil, nil
}

// groupsOf returns the groups of services that are followed in which a person is, nested ones
// among them.
func (d *directory) groupsOf(ctx context.Context, workspace, user string) ([]string, error) {
	key, now := [2]string{workspace, user}, time.Now()
	d.mu.Lock()
	known := d.groups[key]
	d.mu.Unlock()
	if known.isFresh(now) {
		return known.value, nil
	}
	list, err := d.store.ConnectionGroups(ctx, workspace, user)
	if err != nil {
		return nil, err
	}
	remember(d, d.groups, key, seen[[]string]{list, now})
	return list, nil
}

// remember keeps what was read about somebody.
func remember[T any](d *directory, of map[[2]string]seen[T], key [2]string, s seen[T]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(of) >= maxDirectory {
		clear(of)
	}
	of[key] = s
}
