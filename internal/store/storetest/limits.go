package storetest

import (
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testLimits(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"requests_of_any_sixty_seconds":               requestsOverTime,
		"of_takers_at_once_no_two_get_the_same":       requestsAtOnce,
		"a_day_ends_for_those_who_have_used_it":       dayUsed,
		"questions_at_once_do_not_pass_a_day":         dayAtOnce,
		"a_run_counts_to_all_its_accounts":            dayAccounts,
		"documents_and_bytes_of_whoever_brought_them": storedByAccounts,
		"an_import_is_held_to_its_accounts":           importedByAccounts,
		"keys_members_and_workspaces_keep_limits":     limitsKept,
	})
}

func requestsOverTime(f *fixture) {
	start := time.Now().Truncate(time.Second)
	for i, step := range []struct {
		seconds, wanted, taken int
		wait                   time.Duration
	}{
		{0, 8, 8, 0}, {10, 8, 4, 0}, {10, 1, 0, 50 * time.Second}, {59, 1, 0, time.Second},
		{60, 9, 8, 0}, {60, 1, 0, 10 * time.Second}, {70, 9, 4, 0}, {119, 1, 0, time.Second}, {400, 50, 12, 0},
	} {
		at := start.Add(time.Duration(step.seconds) * time.Second)
		got, err := f.TakeRequests(f.ctx, store.TokenRequest{Name: "a", PerMinute: 12, Tokens: step.wanted, Now: at})
		f.must(err)
		if got.Taken != step.taken || got.Wait != step.wait {
			f.Errorf("step %d: %d requests, wait %v; want %d, %v", i, got.Taken, got.Wait, step.taken, step.wait)
		}
	}
	other, err := f.TakeRequests(f.ctx, store.TokenRequest{Name: "b", PerMinute: 12, Tokens: 50, Now: start.Add(400 * time.Second)})
	f.must(err)
	if other.Taken != 12 {
		f.Errorf("another limit has %d requests", other.Taken)
	}
}

func requestsAtOnce(f *fixture) {
	var taken atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range 8 {
		wg.Go(func() {
			got, err := f.TakeRequests(f.ctx, store.TokenRequest{Name: "a", PerMinute: 12, Tokens: 5, Now: start})
			if err != nil {
				f.Error(err)
			}
			taken.Add(int64(got.Taken))
		})
	}
	wg.Wait()
	if taken.Load() != 12 {
		f.Errorf("%d requests of 12 were taken", taken.Load())
	}
}

// noon is a time of today that no step of a test moves into another day.
func noon() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour) }

// ask starts a question that counts to accounts.
func (f *fixture) ask(id string, accounts ...knowledge.Account) error {
	_, err := f.StartRun(f.ctx, reader("ann"), store.Run{
		ID: id, Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, WorkflowID: id, Owner: reader("ann").Owner(),
		Accounts: accounts, Reserves: true, CreatedAt: noon(),
	}, nil)
	return err
}

// settle ends a question that has used tokens.
func (f *fixture) settle(id string, tokens int, cost float64) {
	f.Helper()
	used, err := json.Marshal(knowledge.Usage{PromptTokens: tokens, Cost: cost, Currency: "USD"})
	f.must(err)
	f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: knowledge.RunCompleted, Usage: used}))
}

func account(id string, tokens int64, cost float64) knowledge.Account {
	return knowledge.Account{Kind: knowledge.KeyAccount, ID: id, Limits: knowledge.UseLimits{TokensPerDay: tokens, CostPerDay: cost}}
}

func dayUsed(f *fixture) {
	tight, free := account("tight", 1000, 0), account("free", 0, 0)
	for i, tokens := range []int{600, 399, 500} {
		f.must(f.ask(numbered("q", i), tight))
		f.settle(numbered("q", i), tokens, 1)
	}
	err := f.ask("late", tight)
	f.wantCode(err, knowledge.CodeRateLimited)
	if e := knowledge.AsError(err); e.RetryAfter != 12*time.Hour {
		f.Errorf("it is to be repeated after %v", e.RetryAfter)
	}
	if _, err := f.Run(f.ctx, reader("ann"), "late"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		f.Errorf("the refused question is on record: %v", err)
	}
	f.must(f.ask("other", free))
	f.must(f.ask("priced", account("costly", 0, 2)))
	f.settle("priced", 10, 2.5)
	f.wantCode(f.ask("too dear", account("costly", 0, 2)), knowledge.CodeRateLimited)
	left, err := f.RunDayLeft(f.ctx, "acme", "q2")
	f.must(err)
	if !left.HasTokens || left.Tokens != 1000-1499 || left.HasCost {
		f.Errorf("left is %+v", left)
	}
	f.settle("q2", 9999, 0) // a repeated end counts nothing
	if left, err = f.RunDayLeft(f.ctx, "acme", "q2"); err != nil || left.Tokens != 1000-1499 {
		f.Errorf("after a repeated end %+v, %v", left, err)
	}
}

func dayAtOnce(f *fixture) {
	tight := account("tight", 1000, 0)
	f.must(f.ask("first", tight))
	f.settle("first", 100, 0) // the mean
	var started atomic.Int64
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			switch err := f.ask("q"+strconv.Itoa(i), tight); {
			case err == nil:
				started.Add(1)
			case !knowledge.IsCode(err, knowledge.CodeRateLimited):
				f.Error(err)
			case knowledge.AsError(err).RetryAfter > 2*time.Second:
				f.Errorf("the caller waits %v for questions under way", knowledge.AsError(err).RetryAfter)
			}
		})
	}
	wg.Wait()
	if started.Load() != 9 {
		f.Errorf("%d questions of 100 tokens were started beside 900 that are left", started.Load())
	}
}

func dayAccounts(f *fixture) {
	f.must(f.ask("q", account("k", 0, 0), account("maker", 50, 0), knowledge.Account{Kind: knowledge.UserAccount, ID: "u:ann"}))
	f.settle("q", 60, 0)
	f.wantCode(f.ask("by another key of the maker", account("k2", 0, 0), account("maker", 50, 0)), knowledge.CodeRateLimited)
	f.wantCode(f.CheckDay(f.ctx, "acme", []knowledge.Account{account("k", 60, 0)}), knowledge.CodeRateLimited)
	user := knowledge.Account{Kind: knowledge.UserAccount, ID: "u:ann", Limits: knowledge.UseLimits{TokensPerDay: 61}}
	f.must(f.CheckDay(f.ctx, "acme", []knowledge.Account{user}))
	f.must(f.ChargeUse(f.ctx, "acme", []knowledge.Account{user}, knowledge.Usage{EmbeddingTokens: 1}))
	f.must(f.CheckDay(f.ctx, "acme", []knowledge.Account{account("k", 1000, 0)}))
	f.must(f.CheckDay(f.ctx, "other", []knowledge.Account{account("k", 60, 0)}))
}

// within has an upload count to accounts.
func within(accounts ...knowledge.Account) func(*store.NewVersion) {
	return func(nv *store.NewVersion) { nv.Accounts = accounts }
}

func storedByAccounts(f *fixture) {
	f.must(f.CreateKey(f.ctx, store.Key{ID: "maker", Workspace: "acme", Hash: "1"}))
	f.must(f.CreateKey(f.ctx, store.Key{ID: "child", Workspace: "acme", Hash: "2", CreatedBy: "maker"}))
	limited := func(kind knowledge.AccountKind, id string, documents int, bytes int64) knowledge.Account {
		return knowledge.Account{Kind: kind, ID: id, Limits: knowledge.UseLimits{Documents: documents, Bytes: bytes}}
	}
	user := limited(knowledge.UserAccount, "u:ann", 0, 250)
	f.add(upload("one", within(limited(knowledge.KeyAccount, "child", 2, 0), limited(knowledge.KeyAccount, "maker", 3, 0), user)))
	f.add(upload("two", within(limited(knowledge.KeyAccount, "child", 2, 0), user)))
	refused := func(accounts ...knowledge.Account) {
		f.Helper()
		_, _, err := f.AddVersion(f.ctx, upload("refused", within(accounts...)))
		f.wantCode(err, knowledge.CodeLimitReached)
		f.wantCode(f.CheckStored(f.ctx, "acme", accounts, 1, 100), knowledge.CodeLimitReached)
	}
	refused(limited(knowledge.KeyAccount, "child", 2, 0))
	refused(limited(knowledge.KeyAccount, "maker", 2, 0)) // with what its keys have brought
	refused(user)
	refused(limited(knowledge.WorkspaceAccount, "acme", 2, 0))
	f.add(upload("one", within(limited(knowledge.KeyAccount, "child", 2, 0)))) // a new version is no new document
	f.add(upload("control", within(limited(knowledge.KeyAccount, "another", 1, 100), limited(knowledge.WorkspaceAccount, "acme", 3, 0))))
}

func importedByAccounts(f *fixture) {
	i, err := f.startImport("i")
	f.must(err)
	objects := []store.NewVersion{f.object(i, "a"), f.object(i, "b"), f.object(i, "c")}
	for n := range objects {
		objects[n].Accounts = []knowledge.Account{{Kind: knowledge.WorkspaceAccount, ID: "acme", Limits: knowledge.UseLimits{Documents: 2}}}
	}
	claims, err := f.ClaimVersions(f.ctx, objects, knowledge.LimitsConfig{})
	f.must(err)
	for n, wantRefused := range []bool{false, false, true} {
		if e := claims[n].Refused; (e != nil) != wantRefused || e != nil && (e.Code != knowledge.CodeLimitReached || !e.Retryable) {
			f.Errorf("object %d is refused by %v", n, e)
		}
	}
}

func limitsKept(f *fixture) {
	limits := knowledge.UseLimits{RequestsPerMinute: 7, CostPerDay: 0.5}
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Hash: "h", Limits: limits}))
	if k, err := f.KeyByHash(f.ctx, "h"); err != nil || k.Limits != limits {
		f.Errorf("the key has %+v, %v", k.Limits, err)
	}
	f.must(f.SetWorkspaceLimits(f.ctx, manager("acme"), limits))
	for workspace, want := range map[string]knowledge.UseLimits{"acme": limits, "other": {}} {
		if got, err := f.WorkspaceLimits(f.ctx, workspace); err != nil || got != want {
			f.Errorf("workspace %s has %+v, %v", workspace, got, err)
		}
	}
	_, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Config.Limits.TokensPerDay = 9
		return nil
	})
	f.must(err)
	for name, want := range map[string]int64{"handbook": 9, "Handbook": 9, "press": 0} {
		a, found, err := f.ProjectAccount(f.ctx, "acme", name)
		if err != nil || !found || a.Limits.TokensPerDay != want {
			f.Errorf("project %s: %+v, %t, %v", name, a, found, err)
		}
	}
	if _, found, err := f.ProjectAccount(f.ctx, "other", "press"); err != nil || found {
		f.Errorf("another workspace has the project: %t, %v", found, err)
	}
}
