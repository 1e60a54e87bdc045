package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxAccounts bounds the keys, people or projects whose limits are listed.
const maxAccounts = 10_000

// AccountUse is what an account may use, and what it has used in this day.
type AccountUse struct {
	knowledge.Account
	Own       knowledge.UseLimits // that it has itself
	ID        string              // as Usage has it
	Label     string              // the name of a key or a project
	Tokens    int64
	Cost      float64
	Documents int
	Bytes     int64
}

// AccountUses returns the accounts of the principal's workspace that are limited or have used
// something in this day, in the order of their ids. defaults are the limits of those without their
// own. It needs the permission usage.read. What is stored is counted where it is limited.
func (s *projectStore) AccountUses(ctx context.Context, p knowledge.Principal, by UsageBy, defaults knowledge.UseLimits) ([]AccountUse, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	if !p.May(knowledge.UsageRead) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "reading the usage of a workspace needs the permission usage.read")
	}
	known, err := s.limitedAccounts(ctx, p, by)
	if err == nil {
		err = s.addDay(ctx, p, by, known)
	}
	if err != nil {
		return nil, fmt.Errorf("read the limits by %s: %w", by, failure(err))
	}
	var list []AccountUse
	for _, name := range slices.Sorted(maps.Keys(known)) {
		a := known[name]
		a.Own, a.Limits = a.Limits, a.Limits.Or(defaults)
		if a.Limits == (knowledge.UseLimits{}) && a.Tokens == 0 && a.Cost == 0 {
			continue
		}
		if err := s.addStored(ctx, p.Workspace(), a); err != nil {
			return nil, fmt.Errorf("count the documents of %s: %w", name, failure(err))
		}
		list = append(list, *a)
	}
	return list, nil
}

// WorkspaceUse returns the limits of the principal's workspace, else the defaults, what it has used
// in this day, and what it stores.
func (s *projectStore) WorkspaceUse(ctx context.Context, p knowledge.Principal, defaults knowledge.UseLimits) (AccountUse, error) {
	use := AccountUse{Account: knowledge.Account{Kind: knowledge.WorkspaceAccount, ID: p.Workspace()}, ID: p.Workspace()}
	if err := requireWorkspace(p); err != nil {
		return use, err
	}
	if !p.May(knowledge.UsageRead) {
		return use, knowledge.Errorf(knowledge.CodeForbidden, "reading the limits of a workspace needs the permission usage.read")
	}
	own, err := (&workspaceStore{s.database}).WorkspaceLimits(ctx, p.Workspace())
	if err != nil {
		return use, err
	}
	use.Own, use.Limits = own, own.Or(defaults)
	_, err = first(ctx, s.reader, []any{&use.Tokens, &use.Cost}, "SELECT tokens, cost FROM day_use WHERE workspace = ? AND account = ? AND day = ?",
		p.Workspace(), use.Name(), dayOf(s.now()))
	if err == nil {
		err = s.addStored(ctx, p.Workspace(), &use)
	}
	if err != nil {
		return use, fmt.Errorf("read the use of workspace %s: %w", p.Workspace(), failure(err))
	}
	return use, nil
}

// addStored counts what an account stores, if that is limited.
func (s *projectStore) addStored(ctx context.Context, workspace string, a *AccountUse) error {
	if !a.Limits.LimitsStored() {
		return nil
	}
	used, err := storedBy(ctx, s.reader, workspace, a.Account, "")
	a.Documents, a.Bytes = used.documents, used.bytes
	return err
}

// limitedAccounts returns the keys, members or projects that have limits of their own, and all
// keys and projects, by the names of their accounts.
func (s *projectStore) limitedAccounts(ctx context.Context, p knowledge.Principal, by UsageBy) (map[string]*AccountUse, error) {
	known := map[string]*AccountUse{}
	add := func(kind knowledge.AccountKind, account, id, label, limits string) error {
		l, err := knowledge.DecodeUseLimits(limits)
		a := &AccountUse{Account: knowledge.Account{Kind: kind, ID: account, Limits: l}, ID: id, Label: label}
		known[a.Name()] = a
		return err
	}
	if by == UsageByProject {
		projects, _, err := s.Projects(ctx, p, Page{Limit: maxLimit})
		for _, project := range projects {
			known["project:"+project.ID] = &AccountUse{
				Account: knowledge.Account{Kind: knowledge.ProjectAccount, ID: project.ID, Limits: project.Config.Limits.Use()}, ID: project.ID, Label: project.Name,
			}
		}
		return known, err
	}
	query, args := "SELECT id, name, limits FROM api_keys WHERE workspace = ? AND revoked_at = 0 AND (? = '' OR project = ?) AND instance = FALSE ORDER BY id LIMIT ?",
		[]any{p.Workspace(), p.Project(), p.Project(), maxAccounts}
	if by == UsageByUser {
		query = "SELECT name, name, limits FROM members WHERE workspace = ? AND (? = '' OR project = ?) ORDER BY name LIMIT ?"
	}
	err := each(ctx, s.reader, query, args, func(rows *sql.Rows) error {
		var id, label, limits string
		if err := rows.Scan(&id, &label, &limits); err != nil {
			return err
		}
		if by == UsageByUser {
			return add(knowledge.UserAccount, "u:"+id, "user:"+id, label, limits)
		}
		return add(knowledge.KeyAccount, id, id, label, limits)
	})
	return known, err
}

// addDay adds what accounts have used in this day, and the users that are no members.
func (s *projectStore) addDay(ctx context.Context, p knowledge.Principal, by UsageBy, known map[string]*AccountUse) error {
	return each(ctx, s.reader, "SELECT account, tokens, cost FROM day_use WHERE workspace = ? AND day = ? LIMIT ?",
		[]any{p.Workspace(), dayOf(s.now()), maxAccounts}, func(rows *sql.Rows) error {
			var name string
			var tokens int64
			var cost float64
			if err := rows.Scan(&name, &tokens, &cost); err != nil {
				return err
			}
			a := known[name]
			if owner, isUser := strings.CutPrefix(name, "user:"); a == nil && isUser && by == UsageByUser && p.Project() == "" {
				a = &AccountUse{Account: knowledge.Account{Kind: knowledge.UserAccount, ID: owner}, ID: usageOwner(UsageByUser, "", owner)}
				_, a.Label, _ = strings.Cut(owner, ":")
				known[name] = a
			}
			if a != nil {
				a.Tokens, a.Cost = tokens, cost
			}
			return nil
		})
}
