package e2e_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
	_ "modernc.org/sqlite"             // the database/sql driver "sqlite"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// TestRetentionOfMany applies a retention to thousands of documents, which another process has
// written, kills the server in between, and looks at its traces: each page is an entry of the audit,
// which is written in the transaction of the page, so no transaction has more than a page; and no
// history grows with the documents.
func TestRetentionOfMany(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		driver, action, done, entry string
		documents                   int
	}{
		"hidden_on_SQLite":      {"sqlite", "inactive", "inactive", "retention-hide-documents", 10_000},
		"removed_on_SQLite":     {"sqlite", "remove", "removed", "retention-remove-documents", 300},
		"hidden_on_PostgreSQL":  {"pgx", "inactive", "inactive", "retention-hide-documents", 1_000},
		"removed_on_PostgreSQL": {"pgx", "remove", "removed", "retention-remove-documents", 300},
	} {
		t.Run(name, func(t *testing.T) {
			env, address := at(standIn(t, modeltest.Options{}).URL()), ""
			if of.driver == "pgx" {
				address = postgrestest.Empty(t)
				env = append(env, "CAIRN_DATABASE__URL="+address)
			}
			s := start(t, env...)
			if of.driver == "sqlite" {
				address = filepath.Join(s.folder, "cairn.db")
			}
			s.publishIn(t, "default", "young", "This one is kept.", nil)
			s.copies(t, of.driver, address, of.documents)
			due := s.startRetention(t, map[string]any{"documents": []map[string]any{{"days": 30, "action": of.action}}})
			if due.Documents != of.documents {
				t.Fatalf("due are %+v", due)
			}
			s.awaitDue(t, of.documents*9/10)
			s.wantProgress(t, due.RunID, of.done, of.documents)
			s.kill()
			s.restart()
			s.awaitDue(t, 0)
			s.awaitClosed(t, knowledge.KindRetention.WorkflowID("default", "default"))
			var run struct {
				Status knowledge.RunStatus
				Result map[string]int
			}
			if s.call(t, "GET", "/runs/"+due.RunID, nil, &run); run.Status != knowledge.RunCompleted || run.Result[of.done] != of.documents {
				t.Errorf("the run is %s: %v", run.Status, run.Result)
			}
			if s.idOf(t, "young") == "" {
				t.Error("the document that is young is gone")
			}
			s.wantPages(t, of.entry, of.documents)
			workflow := knowledge.KindRetention.WorkflowID("default", "default")
			if n := len(s.history(t, workflow).Events); n < 10 || n > 10_000 {
				t.Errorf("the history has %d events", n)
			}
		})
	}
}

// copies stops the server, copies its document n times, and starts it again.
func (s *server) copies(t *testing.T, driver, address string, n int) {
	t.Helper()
	document := s.idOf(t, "young")
	s.stop()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	if err := childserver.CopyDocument(t.Context(), db, document, 0, n); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.restart()
}

// wantProgress checks that a run shows how many documents of n it has done so far.
func (s *server) wantProgress(t *testing.T, run, done string, n int) {
	t.Helper()
	var now struct{ Progress map[string]int }
	if s.call(t, "GET", "/runs/"+run, nil, &now); now.Progress[done] < n/10 || now.Progress[done] > n {
		t.Errorf("while it runs it shows %v of %d", now.Progress, n)
	}
}

// awaitDue waits until at most n documents are due.
func (s *server) awaitDue(t *testing.T, n int) {
	t.Helper()
	await(t, 8*time.Minute, fmt.Sprintf("%d documents are due", n), func(context.Context) error {
		due, err := s.RunRetention(t.Context(), true)
		if err == nil && due.Documents > n {
			err = fmt.Errorf("%d are due", due.Documents)
		}
		return err
	})
}

// wantPages checks that the entries of the audit name each of n documents once, and none more than a
// page of them.
func (s *server) wantPages(t *testing.T, action string, n int) {
	t.Helper()
	entries, _ := s.audit(t, "default")
	seen := map[string]bool{}
	for _, list := range entries {
		for _, e := range list {
			if e.Action != action {
				continue
			}
			if len(e.Details.Objects) > 100 {
				t.Errorf("a transaction has %d documents", len(e.Details.Objects))
			}
			for _, id := range e.Details.Objects {
				if seen[id] {
					t.Errorf("%s is done twice", id)
				}
				seen[id] = true
			}
		}
	}
	if len(seen) != n {
		t.Errorf("the audit names %d documents, want %d", len(seen), n)
	}
}
