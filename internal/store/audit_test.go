package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// audited is a store with a chain, and a connection of somebody who changes its tables.
type audited struct {
	*testing.T
	*store.Store
	raw      *sql.DB
	recorder *audit.Recorder
	keeper   *audit.Keeper
	outside  audit.Folder
}

// eachAudit runs a test on both databases.
func eachAudit(t *testing.T, run func(a *audited)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (*store.Store, string, string){
		"sqlite": func(t *testing.T) (*store.Store, string, string) { s, path := openAt(t); return s, "sqlite", path },
		"postgres": func(t *testing.T) (*store.Store, string, string) {
			address := postgrestest.Migrated(t)
			return openPostgresAt(t, address), "pgx", address
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, driver, source := open(t)
			raw, err := sql.Open(driver, source)
			must(t, err)
			t.Cleanup(func() { must(t, raw.Close()) })
			a := &audited{T: t, Store: s, raw: raw, recorder: audit.NewRecorder(s), outside: audit.Folder(t.TempDir())}
			a.keeper = &audit.Keeper{Store: s, Recorder: a.recorder, Signer: audit.NewSigner([]byte("key")), Log: slog.New(slog.DiscardHandler)}
			must(t, s.CreateWorkspace(t.Context(), store.Workspace{ID: "acme"}))
			run(a)
		})
	}
}

// auditor is somebody with permissions in a workspace.
func auditor(workspace, project string, permissions ...knowledge.Permission) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Project: project, KeyID: "k", Permissions: permissions})
}

// request returns the context and the trail of a request that may change something.
func (a *audited) request(id string) (context.Context, *audit.Trail) {
	trail := audit.NewTrail(audit.Config{}, a.recorder, id, "192.0.2.7")
	trail.Begin(audit.Action{Name: "put-role", Object: "uploader", Changes: true}, audit.Sender{Actor: "key:k", Workspace: "acme"})
	return audit.With(a.Context(), trail), trail
}

// write keeps n entries.
func (a *audited) write(n int) {
	a.Helper()
	for range n {
		id := knowledge.NewID()
		must(a.T, a.recorder.Record(a.Context(), audit.Row{ID: id, Workspace: "acme", Entry: audit.Entry{
			At: time.Now().UTC().Truncate(time.Microsecond), Actor: "key:k", Action: "get-chunk", Object: "chunk", Outcome: audit.OutcomeOK, RequestID: id, Details: []byte(`{"status":200}`),
		}}))
	}
	must(a.T, a.keeper.Keep(a.Context()))
}

func (a *audited) entries(q store.AuditQuery) []audit.Entry {
	a.Helper()
	list, _, err := a.Audit(a.Context(), auditor("acme", "", knowledge.AuditRead), q, store.Page{})
	must(a.T, err)
	return list
}

func (a *audited) role(ctx context.Context, permission knowledge.Permission) error {
	_, _, err := a.PutRole(ctx, auditor("acme", "", knowledge.RolesWrite), store.Role{Name: "uploader", Permissions: []knowledge.Permission{permission}})
	return err
}

// TestAChangeAndItsRowAreOne lets processes die at each moment of a change.
func TestAChangeAndItsRowAreOne(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		ctx, trail := a.request("r-1")
		must(a.T, a.role(ctx, knowledge.DocumentsRead))
		must(a.T, a.keeper.Keep(ctx))
		if list := a.entries(store.AuditQuery{}); len(list) != 0 {
			a.Errorf("a change that has not ended is in the chain: %+v", list)
		}
		must(a.T, a.role(ctx, knowledge.DocumentsWrite)) // a second transaction of the same request
		must(a.T, trail.Answer(ctx, audit.Action{Name: "put-role", Object: "uploader"}, audit.Sender{Actor: "key:k", Workspace: "acme"}, 200, audit.OutcomeOK))
		must(a.T, a.keeper.Keep(ctx))
		list := a.entries(store.AuditQuery{})
		if len(list) != 1 || list[0].Outcome != audit.OutcomeOK || list[0].RequestID != "r-1" || list[0].Actor != "key:k" {
			a.Fatalf("the change is in the chain as %+v", list)
		}

		ctx, _ = a.request("r-2")
		must(a.T, a.role(ctx, knowledge.HoldsRead)) // and its process dies
		ctx, _ = a.request("r-3")
		if err := a.RemoveRole(ctx, auditor("acme", "", knowledge.RolesWrite), "unknown"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
			a.Fatal(err)
		}
		next := &audit.Keeper{Store: a.Store, Signer: a.keeper.Signer, Alone: true, Began: time.Now().Add(time.Second), Log: a.keeper.Log}
		must(a.T, next.Keep(ctx))
		list = a.entries(store.AuditQuery{})
		if len(list) != 2 || list[0].RequestID != "r-2" || list[0].Outcome != audit.OutcomeInterrupted {
			a.Errorf("after a crash the chain has %+v", list)
		}
	})
}

// TestCountingIsNoChange lets a request be counted against its limits, and its process die.
func TestCountingIsNoChange(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		ctx, _ := a.request("r-1")
		take := store.TokenRequest{Name: "limit", PerMinute: 60, Tokens: 1, Now: time.Now()}
		_, err := a.TakeTokens(ctx, take)
		must(a.T, err)
		_, err = a.TakeRequests(ctx, take)
		must(a.T, err)
		limited := knowledge.Account{Kind: knowledge.KeyAccount, ID: "k", Limits: knowledge.UseLimits{TokensPerDay: 10}}
		must(a.T, a.ChargeUse(ctx, "acme", []knowledge.Account{limited}, knowledge.Usage{PromptTokens: 1}))
		next := &audit.Keeper{Store: a.Store, Signer: a.keeper.Signer, Alone: true, Began: time.Now().Add(time.Second), Log: a.keeper.Log}
		must(a.T, next.Keep(ctx))
		if list := a.entries(store.AuditQuery{}); len(list) != 0 {
			a.Errorf("the counts are changes: %+v", list)
		}
	})
}

// TestTampering changes the tables of a chain behind the server's back, and has each change
// found and named.
func TestTampering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statements []string
		seq        int64
		kind       string
	}{
		"bytes_changed":  {[]string{"UPDATE audit_entries SET actor = 'key:other' WHERE seq = 4"}, 4, audit.BreakChanged},
		"a_row_deleted":  {[]string{"DELETE FROM audit_entries WHERE seq = 4"}, 4, audit.BreakMissing},
		"rows_reordered": {[]string{"UPDATE audit_entries SET seq = 99 WHERE seq = 4", "UPDATE audit_entries SET seq = 4 WHERE seq = 5", "UPDATE audit_entries SET seq = 5 WHERE seq = 99"}, 4, audit.BreakChanged},
		"the_tail_cut": {[]string{"DELETE FROM audit_entries WHERE seq > 6", "DELETE FROM audit_checkpoints",
			"UPDATE audit_chains SET seq = 6, hash = (SELECT hash FROM audit_entries WHERE seq = 6)"}, 7, audit.BreakTail},
		"an_old_copy": {[]string{"DELETE FROM audit_entries WHERE seq > 3", "DELETE FROM audit_checkpoints",
			"UPDATE audit_chains SET seq = 3, hash = (SELECT hash FROM audit_entries WHERE seq = 3)"}, 4, audit.BreakTail},
		"the_head_deleted": {[]string{"DELETE FROM audit_entries WHERE seq = 1"}, 1, audit.BreakMissing},
		"untouched":        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachAudit(t, func(a *audited) {
				a.keeper.Outside = a.outside
				a.write(9)
				must(a.T, a.keeper.Checkpoint(a.Context()))
				for _, statement := range c.statements {
					_, err := a.raw.ExecContext(a.Context(), statement)
					must(a.T, err)
				}
				report, err := a.keeper.Verify(a.Context(), "acme", 0)
				must(a.T, err)
				if c.seq == 0 {
					if report.Broken != nil || report.Entries != 9 {
						a.Errorf("report %+v, broken %+v", report, report.Broken)
					}
					return
				}
				if report.Broken == nil || report.Broken.Seq != c.seq || report.Broken.Kind != c.kind {
					a.Errorf("broken: %+v, want %s at %d", report.Broken, c.kind, c.seq)
				}
			})
		})
	}
}

// TestAReplacedLogGetsNoSignature rewrites entries with hashes that fit, before and behind a
// checkpoint: no later checkpoint covers them.
func TestAReplacedLogGetsNoSignature(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		a.write(5)
		must(a.T, a.keeper.Checkpoint(a.Context()))
		old, err := a.AuditLinks(a.Context(), "acme", 0, 10)
		must(a.T, err)
		previous := audit.Genesis("acme")
		for _, e := range old {
			e.Actor = "key:other"
			e = e.Link(e.Seq, previous)
			previous = e.Hash
			_, err := a.raw.ExecContext(a.Context(), fmt.Sprintf("UPDATE audit_entries SET actor = '%s', previous = '%s', hash = '%s' WHERE seq = %d", e.Actor, e.Previous, e.Hash, e.Seq))
			must(a.T, err)
		}
		_, err = a.raw.ExecContext(a.Context(), fmt.Sprintf("UPDATE audit_chains SET hash = '%s'", previous))
		must(a.T, err)
		a.write(2) // they follow the forged entries
		before, err := a.AuditCheckpoints(a.Context(), "acme")
		must(a.T, err)
		must(a.T, a.keeper.Checkpoint(a.Context()))
		after, err := a.AuditCheckpoints(a.Context(), "acme")
		must(a.T, err)
		if diff := cmp.Diff(before, after); diff != "" {
			a.Errorf("a forged chain was signed: %s", diff)
		}
		report, err := a.keeper.Verify(a.Context(), "acme", 0)
		must(a.T, err)
		if report.Broken == nil || report.Broken.Seq != 5 || report.Broken.Kind != audit.BreakReplaced {
			a.Errorf("broken: %+v, want replaced at 5", report.Broken)
		}
	})
}

// TestRetentionOfTheAudit removes what is old, and verifies the rest.
func TestRetentionOfTheAudit(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		old := time.Now().AddDate(0, 0, -40).UTC().Truncate(time.Microsecond)
		for i := range 4 {
			id := knowledge.NewID()
			must(a.T, a.recorder.Record(a.Context(), audit.Row{ID: id, Workspace: "acme", Entry: audit.Entry{At: old.Add(time.Duration(i) * time.Second), RequestID: id, Object: "old", Details: []byte("{}")}}))
		}
		must(a.T, a.keeper.Keep(a.Context()))
		must(a.T, a.keeper.Checkpoint(a.Context()))
		a.write(3)
		a.keeper.Days = 30
		must(a.T, a.keeper.Cut(a.Context()))
		list := a.entries(store.AuditQuery{})
		if len(list) != 4 || list[3].Seq != 5 || list[0].Action != "cut-audit" {
			a.Fatalf("the audit has %d entries: %+v", len(list), list)
		}
		if left := a.entries(store.AuditQuery{Object: "old"}); len(left) > 0 {
			a.Errorf("removed entries are still found: %+v", left)
		}
		for _, after := range []int64{0, 4} {
			report, err := a.keeper.Verify(a.Context(), "acme", after)
			must(a.T, err)
			if report.Broken != nil || report.Entries != 4 || report.First != 5 {
				a.Errorf("after %d: report %+v, broken %+v", after, report, report.Broken)
			}
		}
		must(a.T, a.keeper.Cut(a.Context()))
		if again := a.entries(store.AuditQuery{}); len(again) != 4 {
			a.Errorf("a second cut left %d entries", len(again))
		}
		_, err := a.raw.ExecContext(a.Context(), "DELETE FROM audit_entries WHERE seq = 5") // as if the retention had removed it
		must(a.T, err)
		report, err := a.keeper.Verify(a.Context(), "acme", 0)
		must(a.T, err)
		if report.Broken == nil || report.Broken.Seq != 5 {
			a.Errorf("broken: %+v, want missing at 5", report.Broken)
		}
	})
}

// TestVerifyBehindACheckpoint verifies only what is new.
func TestVerifyBehindACheckpoint(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(a *audited) {
		a.write(3)
		must(a.T, a.keeper.Checkpoint(a.Context()))
		a.write(4)
		report, err := a.keeper.Verify(a.Context(), "acme", 3)
		must(a.T, err)
		if report.Broken != nil || report.Entries != 4 || report.First != 4 || report.Last != 7 {
			a.Errorf("report %+v", report)
		}
		if _, err := a.keeper.Verify(a.Context(), "acme", 2); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			a.Errorf("behind an entry that no checkpoint knows: %v", err)
		}
	})
}
