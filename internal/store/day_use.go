package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// dayUseKept is how long the use of a day is kept.
	dayUseKept = 7 * 24 * time.Hour
	// firstShare is the share of a limit that a question is taken to use while none of the
	// day has ended.
	firstShare = 20
	// maxDayWait bounds how long a caller is told to wait for questions that are under way.
	maxDayWait = 2 * time.Second
)

// runAccount is an account to which the use of a run is counted, with its limits of a day.
type runAccount struct {
	Name   string  `json:"name"`
	What   string  `json:"what,omitempty"` // it has a limit of the day
	Tokens int64   `json:"tokens,omitempty"`
	Cost   float64 `json:"cost,omitempty"`
}

func (a runAccount) limited() bool { return a.Tokens > 0 || a.Cost > 0 }

// runAccounts returns accounts as the row of a run has them, by their names, so that
// transactions lock their rows in one order. Limits are left out of a run that is not held to
// them.
func runAccounts(accounts []knowledge.Account, limits bool) []runAccount {
	list := make([]runAccount, 0, len(accounts))
	for _, a := range accounts {
		r := runAccount{Name: a.Name()}
		if limits && a.Limits.LimitsDay() {
			r.What, r.Tokens, r.Cost = a.What(), a.Limits.TokensPerDay, a.Limits.CostPerDay
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b runAccount) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b runAccount) bool { return a.Name == b.Name })
}

// accountsOf returns to whom the use of a run is counted.
func (r *runRow) accountsOf() ([]runAccount, error) {
	if r.Accounts != "" {
		var list []runAccount
		err := json.Unmarshal([]byte(r.Accounts), &list)
		return list, err
	}
	accounts := []knowledge.Account{{Kind: knowledge.WorkspaceAccount, ID: r.Workspace}}
	if r.Project != "" {
		accounts = append(accounts, knowledge.Account{Kind: knowledge.ProjectAccount, ID: r.Project})
	}
	if id, isKey := strings.CutPrefix(r.Owner, "k:"); isKey && id != "" {
		accounts = append(accounts, knowledge.Account{Kind: knowledge.KeyAccount, ID: id})
	} else if r.Owner != "" && !isKey {
		accounts = append(accounts, knowledge.Account{Kind: knowledge.UserAccount, ID: r.Owner})
	}
	return runAccounts(accounts, false), nil
}

// dayRow is what an account used in a day.
type dayRow struct {
	tokens, runs, runTokens, running int64
	cost, runCost                    float64
}

// beside returns what an account has used, with what the questions under way beside one are
// expected to use: the mean of those that have ended.
func (d dayRow) beside(a runAccount) (tokens, cost float64) {
	others := float64(max(d.running-1, 0))
	meanTokens, meanCost := float64(a.Tokens)/firstShare, a.Cost/firstShare
	if d.runs > 0 {
		meanTokens, meanCost = float64(d.runTokens)/float64(d.runs), d.runCost/float64(d.runs)
	}
	return float64(d.tokens) + others*meanTokens, d.cost + others*meanCost
}

// reserveDay notes a run that begins at the accounts that limit a day. It is CodeRateLimited
// where one of them has nothing left.
func reserveDay(ctx context.Context, tx transaction, row *runRow) error {
	accounts, err := row.accountsOf()
	if err != nil {
		return fmt.Errorf("decode the accounts of run %s: %w", row.ID, err)
	}
	at := fromMicros(row.CreatedAt)
	for _, a := range accounts {
		if !a.limited() {
			continue
		}
		var d dayRow
		_, err := first(ctx, tx, []any{&d.tokens, &d.cost, &d.runs, &d.runTokens, &d.runCost, &d.running},
			`INSERT INTO day_use (workspace, account, day, tokens, cost, runs, run_tokens, run_cost, running) VALUES (?, ?, ?, 0, 0, 0, 0, 0, 1)
			ON CONFLICT (workspace, account, day) DO UPDATE SET running = day_use.running + 1 RETURNING tokens, cost, runs, run_tokens, run_cost, running`,
			row.Workspace, a.Name, dayOf(at))
		if err == nil {
			err = d.check(a, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check refuses a run beside those that a day has.
func (d dayRow) check(a runAccount, now time.Time) error {
	tokens, cost := d.beside(a)
	what, used := "", false
	switch {
	case a.Tokens > 0 && tokens >= float64(a.Tokens):
		what, used = fmt.Sprintf("%d tokens (limits.tokensPerDay)", a.Tokens), d.tokens >= a.Tokens
	case a.Cost > 0 && cost >= a.Cost:
		what, used = fmt.Sprintf("cost of %g (limits.costPerDay)", a.Cost), d.cost >= a.Cost
	default:
		return nil
	}
	midnight := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	e := knowledge.Errorf(knowledge.CodeRateLimited, "%s has used its %s of this day; the next one begins at %s", a.What, what, midnight.Format(time.RFC3339))
	e.RetryAfter, e.Retryable = midnight.Sub(now), true
	if !used {
		e = knowledge.Errorf(knowledge.CodeRateLimited, "the questions that %s has under way may use up its %s of this day: ask again when one has ended", a.What, what)
		e.RetryAfter, e.Retryable = min(maxDayWait, midnight.Sub(now)), true
	}
	return e
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// chargeRun counts the use of a run that has ended to its accounts.
func chargeRun(ctx context.Context, tx transaction, row *runRow) error {
	if row.Parent != "" || row.Kind == knowledge.KindImport { // it is in the usage of the run that started it, or was counted by parts
		return nil
	}
	var used knowledge.Usage
	if err := used.Decode(json.RawMessage(row.Usage)); err != nil {
		return fmt.Errorf("decode the usage of run %s: %w", row.ID, err)
	}
	accounts, err := row.accountsOf()
	if err != nil {
		return fmt.Errorf("decode the accounts of run %s: %w", row.ID, err)
	}
	return charge(ctx, tx, row.Workspace, dayOf(fromMicros(row.CreatedAt)), accounts, used, 1)
}

// charge adds use to accounts. ended is how many runs it ends.
func charge(ctx context.Context, tx transaction, workspace, day string, accounts []runAccount, used knowledge.Usage, ended int64) error {
	tokens := int64(used.Tokens())
	for _, a := range accounts {
		held := int64(0)
		if a.limited() {
			held = ended
		}
		if tokens == 0 && used.Cost == 0 && held == 0 {
			continue
		}
		_, err := tx.exec(ctx, `INSERT INTO day_use (workspace, account, day, tokens, cost, runs, run_tokens, run_cost, running)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)
			ON CONFLICT (workspace, account, day) DO UPDATE SET tokens = day_use.tokens + ?4, cost = day_use.cost + ?5, runs = day_use.runs + ?6,
			run_tokens = day_use.run_tokens + ?7, run_cost = day_use.run_cost + ?8,
			running = CASE WHEN day_use.running > ?6 THEN day_use.running - ?6 ELSE 0 END`,
			workspace, a.Name, day, tokens, used.Cost, held, held*tokens, float64(held)*used.Cost)
		if err != nil {
			return err
		}
	}
	if tokens == 0 {
		return nil
	}
	_, err := tx.exec(ctx, "DELETE FROM day_use WHERE day < ?", dayOf(tx.now().Add(-dayUseKept)))
	return err
}

// ChargeUse counts use that no run has to accounts.
func (s *runStore) ChargeUse(ctx context.Context, workspace string, accounts []knowledge.Account, used knowledge.Usage) error {
	return s.count(ctx, "count the use of models", func(ctx context.Context, tx transaction) error {
		return charge(ctx, tx, workspace, dayOf(s.now()), runAccounts(accounts, false), used, 0)
	})
}

// CheckDay is CodeRateLimited if one of the accounts has used what it may in this day.
func (s *runStore) CheckDay(ctx context.Context, workspace string, accounts []knowledge.Account) error {
	limited := slices.DeleteFunc(runAccounts(accounts, true), func(a runAccount) bool { return !a.limited() })
	now := s.now()
	for _, a := range limited {
		d, err := s.dayUse(ctx, workspace, a.Name, dayOf(now))
		if err != nil {
			return err
		}
		d.running++ // the caller itself
		if err := d.check(a, now); err != nil {
			return err
		}
	}
	return nil
}

func (s *runStore) dayUse(ctx context.Context, workspace, account, day string) (d dayRow, err error) {
	_, err = first(ctx, s.reader, []any{&d.tokens, &d.cost, &d.runs, &d.runTokens, &d.runCost, &d.running},
		"SELECT tokens, cost, runs, run_tokens, run_cost, running FROM day_use WHERE workspace = ? AND account = ? AND day = ?", workspace, account, day)
	if err != nil {
		return d, fmt.Errorf("read the use of %s: %w", account, failure(err))
	}
	return d, nil
}

// DayLeft is what the tightest accounts of a run have left of their day, beside its own use.
type DayLeft struct {
	Tokens    int64 // may be negative
	Cost      float64
	HasTokens bool // false: no account limits them
	HasCost   bool
	What      string // the tightest account
}

// RunDayLeft returns what the accounts of a run have left. It does not know what the run
// itself has used by now.
func (s *runStore) RunDayLeft(ctx context.Context, workspace, run string) (left DayLeft, err error) {
	var row runRow
	there, err := runTable.first(ctx, s.reader, &row, "r.id = ? AND r.workspace = ?", run, workspace)
	if err != nil || !there || row.Accounts == "" {
		return left, failure(err)
	}
	accounts, err := row.accountsOf()
	if err != nil {
		return left, fmt.Errorf("decode the accounts of run %s: %w", run, err)
	}
	for _, a := range accounts {
		if !a.limited() {
			continue
		}
		d, err := s.dayUse(ctx, workspace, a.Name, dayOf(fromMicros(row.CreatedAt)))
		if err != nil {
			return left, err
		}
		if n := a.Tokens - d.tokens; a.Tokens > 0 && (!left.HasTokens || n < left.Tokens) {
			left.HasTokens, left.Tokens, left.What = true, n, a.What
		}
		if n := a.Cost - d.cost; a.Cost > 0 && (!left.HasCost || n < left.Cost) {
			left.HasCost, left.Cost, left.What = true, n, cmp.Or(left.What, a.What)
		}
	}
	return left, nil
}
