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

// directory knows the roles and the members of workspaces, as they were a moment ago. It is
// safe for concurrent use.
type directory struct {
	store Store

	mu      sync.Mutex
	roles   map[string]seen[map[string][]knowledge.Permission] // of a workspace, by their names
	members map[[2]string]seen[*store.Member]                  // by workspace and name; nil = there is none
}

// seen is what was read at a time.
type seen[T any] struct {
	value T
	at    time.Time
}

// isFresh reports whether it was read a moment ago.
func (s seen[T]) isFresh(now time.Time) bool { return now.Sub(s.at) < directoryAge }

func newDirectory(s Store) *directory {
	return &directory{store: s, roles: map[string]seen[map[string][]knowledge.Permission]{}, members: map[[2]string]seen[*store.Member]{}}
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
		d.remember(key, known)
	}
	if m := known.value; m != nil && (!m.DeactivatedAt.IsZero() || m.ExpiresAt.IsZero() || m.ExpiresAt.After(time.Now())) {
		return m, nil
	}
	return nil, nil
}

func (d *directory) remember(key [2]string, m seen[*store.Member]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.members) >= maxDirectory {
		clear(d.members)
	}
	d.members[key] = m
}
