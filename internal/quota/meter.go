package quota

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Config has the limits of those that have none of their own. All default to none.
type Config struct {
	Key, User, Project, Workspace knowledge.UseLimits
}

// Store counts.
type Store interface {
	// TakeRequests takes requests of a limit, or returns how long it has none.
	TakeRequests(ctx context.Context, r store.TokenRequest) (store.Tokens, error)
	// WorkspaceLimits returns the limits that a workspace has itself.
	WorkspaceLimits(ctx context.Context, workspace string) (knowledge.UseLimits, error)
	// ProjectAccount returns the account of a project by its id or its name. found is false if
	// there is none.
	ProjectAccount(ctx context.Context, workspace, idOrName string) (a knowledge.Account, found bool, err error)
	// CheckDay is CodeRateLimited if an account has used what it may in this day.
	CheckDay(ctx context.Context, workspace string, accounts []knowledge.Account) error
	// ChargeUse counts use that no run has.
	ChargeUse(ctx context.Context, workspace string, accounts []knowledge.Account, used knowledge.Usage) error
}

// Meter knows the limits, and counts requests against them. It is safe for concurrent use.
type Meter struct {
	cfg    Config
	store  Store
	now    func() time.Time
	leases *Leases
	scopes scopes
}

// New returns a Meter.
func New(cfg Config, s Store, now func() time.Time) *Meter {
	return &Meter{cfg: cfg, store: s, now: now, leases: requestLeases(s), scopes: scopes{store: s, known: map[[2]string]seen{}}}
}

// requestLeases returns leases of requests.
func requestLeases(s Store) *Leases {
	return NewLeases(LeaseConfig{
		Share:   50, // two processes that hold a lease each differ from the limit by less than 5 % together
		Largest: 200,
		Life:    30 * time.Second, // the limit has as many again sixty seconds after they were leased
		Take: func(ctx context.Context, r store.TokenRequest) (store.Tokens, error) {
			got, err := s.TakeRequests(ctx, r)
			if got.Taken == 0 {
				got.Wait = max(got.Wait, time.Second)
			}
			return got, err
		},
	})
}

// Accounts returns the accounts of a principal, and of a project unless it is "", with the limits
// that hold for them.
func (m *Meter) Accounts(ctx context.Context, p knowledge.Principal, project string) ([]knowledge.Account, error) {
	return m.complete(ctx, p.Workspace(), project, p.Accounts())
}

// SystemAccounts returns the accounts of what a workspace does by itself in a project, such as the
// runs of its syncs.
func (m *Meter) SystemAccounts(ctx context.Context, workspace, project string) ([]knowledge.Account, error) {
	return m.complete(ctx, workspace, project, []knowledge.Account{{Kind: knowledge.WorkspaceAccount, ID: workspace}})
}

func (m *Meter) complete(ctx context.Context, workspace, project string, list []knowledge.Account) ([]knowledge.Account, error) {
	if project != "" && workspace != "" {
		a, found, err := m.scopes.project(ctx, m.now(), workspace, project)
		if err != nil {
			return nil, err
		}
		if found {
			list = append(list, a)
		}
	}
	for i := range list {
		a := &list[i]
		switch a.Kind {
		case knowledge.KeyAccount:
			a.Limits = a.Limits.Or(m.cfg.Key)
		case knowledge.UserAccount:
			a.Limits = a.Limits.Or(m.cfg.User)
		case knowledge.ProjectAccount:
			a.Limits = a.Limits.Or(m.cfg.Project)
		case knowledge.WorkspaceAccount:
			own, err := m.scopes.workspace(ctx, m.now(), a.ID)
			if err != nil {
				return nil, err
			}
			a.Limits = own.Or(m.cfg.Workspace)
		}
	}
	return list, nil
}

// Defaults returns the limits of accounts of a kind that have none of their own.
func (m *Meter) Defaults(kind knowledge.AccountKind) knowledge.UseLimits {
	switch kind {
	case knowledge.KeyAccount:
		return m.cfg.Key
	case knowledge.UserAccount:
		return m.cfg.User
	case knowledge.ProjectAccount:
		return m.cfg.Project
	}
	return m.cfg.Workspace
}

// scopeAge is how long the limits of a workspace and a project are trusted that were read: a
// change shows in every process within it.
const scopeAge = time.Second

// maxScopes is how many workspaces and projects are remembered.
const maxScopes = 10_000

// scopes knows the limits of workspaces and projects, as they were a moment ago.
type scopes struct {
	store Store

	mu    sync.Mutex
	known map[[2]string]seen // by workspace and project, "" = the workspace itself
}

// seen is an account that was read at a time.
type seen struct {
	account knowledge.Account
	found   bool
	at      time.Time
}

func (s *scopes) workspace(ctx context.Context, now time.Time, id string) (knowledge.UseLimits, error) {
	known, err := s.read(now, [2]string{id, ""}, func() (knowledge.Account, bool, error) {
		limits, err := s.store.WorkspaceLimits(ctx, id)
		return knowledge.Account{Kind: knowledge.WorkspaceAccount, ID: id, Limits: limits}, true, err
	})
	if err != nil {
		return knowledge.UseLimits{}, fmt.Errorf("read the limits of workspace %s: %w", id, err)
	}
	return known.account.Limits, nil
}

func (s *scopes) project(ctx context.Context, now time.Time, workspace, idOrName string) (knowledge.Account, bool, error) {
	known, err := s.read(now, [2]string{workspace, idOrName}, func() (knowledge.Account, bool, error) {
		return s.store.ProjectAccount(ctx, workspace, idOrName)
	})
	if err != nil {
		return knowledge.Account{}, false, fmt.Errorf("read the limits of project %s: %w", idOrName, err)
	}
	return known.account, known.found, nil
}

func (s *scopes) read(now time.Time, key [2]string, read func() (knowledge.Account, bool, error)) (seen, error) {
	s.mu.Lock()
	known, there := s.known[key]
	s.mu.Unlock()
	if there && now.Sub(known.at) < scopeAge {
		return known, nil
	}
	account, found, err := read()
	if err != nil {
		return seen{}, err
	}
	known = seen{account, found, now}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxScopes {
		clear(s.known)
	}
	s.known[key] = known
	return known, nil
}
