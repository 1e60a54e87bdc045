package storetest

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testRuns(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_run_comes_back_as_it_was_stored":   runRoundTrip,
		"the_first_end_of_a_run_counts":       firstEnd,
		"a_run_is_for_its_owner_and_managers": runVisibility,
		"running_runs_are_found_by_age":       runningRuns,
		"runs_are_narrowed_by_every_field":    queryRuns,
	})
}

func run(id string, change ...func(*store.Run)) store.Run {
	r := store.Run{
		ID: id, Workspace: "acme", Project: "handbook", Kind: "query", Status: knowledge.RunRunning, WorkflowID: "query/acme/" + id,
		Owner: "u:ann", CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func runRoundTrip(f *fixture) {
	want := run("r1", func(r *store.Run) { r.ConversationID, r.FirstOffset, r.Subject, r.Version = "talk", 12, "doc", 3 })
	f.must(f.AddRun(f.ctx, want))
	f.wantCode(f.AddRun(f.ctx, want), knowledge.CodeConflict)
	for range 2 {
		got, err := f.Run(f.ctx, reader("ann"), "r1")
		f.must(err)
		system, err := f.RunForSystem(f.ctx, "acme", "r1")
		f.must(err)
		for _, r := range []store.Run{got, system} {
			if diff := cmp.Diff(want, r); diff != "" {
				f.Error(diff)
			}
		}
		want.Status, want.LogKey, want.ResultKey, want.Usage = knowledge.RunFailed, "log", "result", json.RawMessage(`{"tokens":5}`)
		want.Error, want.EndedAt = &knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "it's down"}, want.CreatedAt.Add(time.Minute)
		f.must(f.EndRun(f.ctx, "acme", "r1", store.RunEnd{
			Status: want.Status, LogKey: want.LogKey, ResultKey: want.ResultKey, Usage: want.Usage, Error: want.Error, At: want.EndedAt,
		}))
	}
}

func firstEnd(f *fixture) {
	f.must(f.AddRun(f.ctx, run("r1")))
	f.must(f.EndRun(f.ctx, "acme", "r1", store.RunEnd{Status: knowledge.RunCompleted, LogKey: "first"}))
	f.must(f.EndRun(f.ctx, "acme", "r1", store.RunEnd{Status: knowledge.RunFailed, LogKey: "second", Error: &knowledge.Failure{Code: knowledge.CodeInternal}}))
	r, err := f.RunForSystem(f.ctx, "acme", "r1")
	f.must(err)
	if r.Status != knowledge.RunCompleted || r.LogKey != "first" || r.Error != nil || r.EndedAt.IsZero() {
		f.Errorf("run %+v", r)
	}
	f.wantCode(f.EndRun(f.ctx, "acme", "missing", store.RunEnd{Status: knowledge.RunFailed}), knowledge.CodeNotFound)
}

func runVisibility(f *fixture) {
	f.must(f.AddRun(f.ctx, run("question")))
	shared, _ := f.publish(upload("shared"), "x")
	private, _ := f.publish(upload("private", func(nv *store.NewVersion) { nv.Access = users("bob") }), "x")
	pending := f.add(upload("pending"))
	for name, test := range map[string]struct {
		p    knowledge.Principal
		want []string
	}{
		"the owner":                {reader("ann"), []string{"question", shared.RunID}},
		"somebody else":            {reader("bob"), []string{shared.RunID, private.RunID}},
		"a manager":                {manager("acme"), []string{"question", shared.RunID, private.RunID, pending.RunID}},
		"a key of another project": {claims(func(c *knowledge.Claims) { c.User, c.Project = "ann", "press" }), []string{}},
		"another workspace":        {manager("other"), []string{}},
	} {
		got := []string{}
		for _, id := range []string{"question", shared.RunID, private.RunID, pending.RunID} {
			if _, err := f.Run(f.ctx, test.p, id); err == nil {
				got = append(got, id)
			} else {
				f.wantCode(err, knowledge.CodeNotFound)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			f.Errorf("%s opens: %s", name, diff)
		}
		list, _, err := f.Runs(f.ctx, test.p, store.RunQuery{})
		if err != nil || len(list) != len(test.want) {
			f.Errorf("%s lists %d runs, %v", name, len(list), err)
		}
	}
}

func runningRuns(f *fixture) {
	old := func(kind knowledge.RunKind) func(*store.Run) {
		return func(r *store.Run) { r.Kind, r.CreatedAt = kind, time.Now().Add(-time.Hour) }
	}
	f.must(f.AddRun(f.ctx, run("old", old("query"))))
	f.must(f.AddRun(f.ctx, run("old-tool", old("tool"))))
	f.must(f.AddRun(f.ctx, run("old-ended", old("query"))))
	f.must(f.EndRun(f.ctx, "acme", "old-ended", store.RunEnd{Status: knowledge.RunCompleted}))
	f.must(f.AddRun(f.ctx, run("new")))
	for _, test := range []struct {
		kinds  []knowledge.RunKind
		before time.Duration
		limit  int
		want   int
	}{{[]knowledge.RunKind{knowledge.KindQuery}, -time.Minute, 10, 1}, {nil, -time.Minute, 10, 2}, {knowledge.AnswerKinds(), time.Minute, 10, 3}, {nil, time.Minute, 1, 1}, {[]knowledge.RunKind{knowledge.KindIngest}, time.Minute, 9, 0}} {
		list, err := f.RunningRuns(f.ctx, store.RunningQuery{Kinds: test.kinds, Before: time.Now().Add(test.before), Limit: test.limit})
		if err != nil || len(list) != test.want {
			f.Errorf("%+v: %d runs, %v", test, len(list), err)
		}
	}
}

func queryRuns(f *fixture) {
	f.must(f.AddRun(f.ctx, run("a")))
	f.must(f.AddRun(f.ctx, run("b", func(r *store.Run) { r.Kind = "tool" })))
	f.must(f.AddRun(f.ctx, run("c", func(r *store.Run) { r.Project = "press" })))
	f.must(f.EndRun(f.ctx, "acme", "c", store.RunEnd{Status: knowledge.RunCanceled}))
	for _, test := range []struct {
		query store.RunQuery
		want  []string
	}{
		{store.RunQuery{}, []string{"a", "b", "c"}},
		{store.RunQuery{Kind: "tool"}, []string{"b"}},
		{store.RunQuery{Status: knowledge.RunCanceled}, []string{"c"}},
		{store.RunQuery{Project: "handbook", Kind: "query"}, []string{"a"}},
		{store.RunQuery{Kind: "other"}, []string{}},
		{store.RunQuery{Person: "ann"}, []string{"a", "b", "c"}},
		{store.RunQuery{Person: "bob"}, []string{}},
		{store.RunQuery{Person: "ann", Kind: "tool"}, []string{"b"}},
	} {
		list, _, err := f.Runs(f.ctx, reader("ann"), test.query)
		f.must(err)
		got := []string{}
		for _, r := range list {
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			f.Errorf("%+v: %s", test.query, diff)
		}
	}
}

func testIdempotency(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"of_many_claimers_exactly_one_goes_on":  oneClaimer,
		"a_stored_response_is_given_again":      storedResponse,
		"a_released_key_can_be_claimed_again":   releasedKey,
		"a_key_is_forgotten_after_24_hours":     forgottenKey,
		"keys_of_different_callers_do_not_meet": differentCallers,
		"a_running_request_is_its_processes":    leasedKey,
		"a_lease_ends_with_its_request":         endedLease,
	})
}

func claim(change ...func(*store.IdempotencyKey)) store.IdempotencyKey {
	k := store.IdempotencyKey{Workspace: "acme", Caller: "u:ann", Key: "key", Route: "POST /query", BodyHash: "hash", RunID: "run", Now: time.Now()}
	for _, c := range change {
		c(&k)
	}
	return k
}

func oneClaimer(f *fixture) {
	var claimed, existing atomic.Int32
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			record, err := f.ClaimKey(f.ctx, claim(func(k *store.IdempotencyKey) { k.RunID = numbered("run", i) }))
			switch {
			case err != nil:
				f.Error(err)
			case record == nil:
				claimed.Add(1)
			case record.Status != 0 || record.RunID == "":
				f.Errorf("record %+v", record)
			default:
				existing.Add(1)
			}
		})
	}
	wg.Wait()
	if claimed.Load() != 1 || existing.Load() != 23 {
		f.Errorf("%d claimed, %d found it claimed", claimed.Load(), existing.Load())
	}
}

func storedResponse(f *fixture) {
	_, err := f.ClaimKey(f.ctx, claim())
	f.must(err)
	want := &store.IdempotencyRecord{
		Route: "POST /query", BodyHash: "hash", RunID: "run", Status: 202, Response: []byte("{\"a\":\"it's\x00\xff\"}"), ContentType: "application/json",
	}
	f.must(f.StoreResponse(f.ctx, "acme", "u:ann", "key", want.Status, want.ContentType, want.Response))
	got, err := f.ClaimKey(f.ctx, claim(func(k *store.IdempotencyKey) { k.BodyHash, k.RunID = "other", "run2" }))
	f.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Error(diff)
	}
	f.wantCode(f.StoreResponse(f.ctx, "acme", "u:ann", "missing", 200, "", nil), knowledge.CodeNotFound)
}

func releasedKey(f *fixture) {
	for range 2 {
		if record, err := f.ClaimKey(f.ctx, claim()); err != nil || record != nil {
			f.Errorf("record %+v, %v", record, err)
		}
		f.must(f.ReleaseKey(f.ctx, "acme", "u:ann", "key"))
	}
	f.must(f.ReleaseKey(f.ctx, "acme", "u:ann", "key"))
}

func forgottenKey(f *fixture) {
	start := time.Now().Add(-48 * time.Hour)
	at := func(after time.Duration) store.IdempotencyKey {
		return claim(func(k *store.IdempotencyKey) { k.Now = start.Add(after) })
	}
	for _, step := range []struct {
		after time.Duration
		free  bool
	}{{0, true}, {24*time.Hour - time.Second, false}, {24*time.Hour + time.Second, true}, {25 * time.Hour, false}} {
		record, err := f.ClaimKey(f.ctx, at(step.after))
		if err != nil || (record == nil) != step.free {
			f.Errorf("after %s: %+v, %v", step.after, record, err)
		}
	}
}

// leased is a claim of a process whose lease ends some seconds after now.
func leased(owner string, seconds int, change ...func(*store.IdempotencyKey)) store.IdempotencyKey {
	return claim(append([]func(*store.IdempotencyKey){func(k *store.IdempotencyKey) {
		k.Owner, k.LeasedUntil = owner, k.Now.Add(time.Duration(seconds)*time.Second)
	}}, change...)...)
}

// held reports whether a claim finds that another process runs the request.
func (f *fixture) held(k store.IdempotencyKey) bool {
	f.Helper()
	record, err := f.ClaimKey(f.ctx, k)
	f.must(err)
	return record != nil && record.Held
}

func leasedKey(f *fixture) {
	later := func(seconds int) func(*store.IdempotencyKey) {
		return func(k *store.IdempotencyKey) { k.Now = k.Now.Add(time.Duration(seconds) * time.Second) }
	}
	if first, second := f.held(leased("a", 60)), f.held(leased("a", 60)); first || second {
		f.Error("the owner's claim finds another process")
	}
	for _, k := range []store.IdempotencyKey{leased("b", 60), claim(), leased("b", 60, later(50))} {
		if !f.held(k) {
			f.Errorf("the lease did not keep out %+v", k)
		}
	}
	f.must(f.HoldKey(f.ctx, leased("b", 600))) // it has no lease to renew
	f.must(f.HoldKey(f.ctx, leased("a", 90)))
	if !f.held(leased("b", 60, later(80))) {
		f.Error("the lease was not renewed")
	}
	other := leased("b", 60, func(k *store.IdempotencyKey) { k.BodyHash = "other" })
	if record, err := f.ClaimKey(f.ctx, other); err != nil || record == nil || record.Held {
		f.Errorf("another request waits for the lease: %+v, %v", record, err)
	}
	if f.held(leased("b", 300, later(91))) {
		f.Error("an expired lease was not taken over")
	}
	f.must(f.HoldKey(f.ctx, leased("a", 0))) // it is b's now
	if !f.held(leased("a", 60, later(91))) {
		f.Error("b's lease has ended with a's")
	}
}

func endedLease(f *fixture) {
	end := leased("a", 0)
	end.LeasedUntil = time.Time{}
	f.held(leased("a", 60))
	f.must(f.HoldKey(f.ctx, end))
	if f.held(leased("b", 60)) {
		f.Error("the lease goes on behind its end")
	}
	f.must(f.StoreResponse(f.ctx, "acme", "u:ann", "key", 200, "", nil))
	for _, owner := range []string{"", "a"} {
		if record, err := f.ClaimKey(f.ctx, leased(owner, 60)); err != nil || record == nil || record.Held || record.Status != 200 {
			f.Errorf("%+v, %v", record, err)
		}
	}
}

func differentCallers(f *fixture) {
	for _, change := range []func(*store.IdempotencyKey){
		func(*store.IdempotencyKey) {},
		func(k *store.IdempotencyKey) { k.Caller = "u:bob" },
		func(k *store.IdempotencyKey) { k.Workspace = "other" },
		func(k *store.IdempotencyKey) { k.Key = "key2" },
	} {
		if record, err := f.ClaimKey(f.ctx, claim(change)); err != nil || record != nil {
			f.Errorf("record %+v, %v", record, err)
		}
	}
	_, err := f.ClaimKey(f.ctx, store.IdempotencyKey{Key: "key"})
	f.wantCode(err, knowledge.CodeForbidden)
}
