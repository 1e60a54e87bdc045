package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// auditStore has the audit trail: the rows of changes that wait for their place, and the
// chains of the workspaces.
type auditStore struct{ *database }

// auditWorkspace is where entries are that belong to no workspace, such as refused requests
// that name none, or one that there is not.
const auditWorkspace = "default"

// extendAtATime bounds how many waiting rows one transaction adds to the chains.
const extendAtATime = 1000

type pendingAuditRow struct {
	bun.BaseModel `bun:"table:audit_pending,alias:p"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Entry         string `bun:"entry"`
	Waits         bool   `bun:"waits"`
	CreatedAt     int64  `bun:"created_at"`
}

type auditRow struct {
	bun.BaseModel `bun:"table:audit_entries,alias:a"`
	Workspace     string `bun:"workspace,pk"`
	Seq           int64  `bun:"seq,pk"`
	At            int64  `bun:"at"`
	Actor         string `bun:"actor"`
	Action        string `bun:"action"`
	Object        string `bun:"object"`
	Outcome       string `bun:"outcome"`
	RequestID     string `bun:"request_id"`
	Address       string `bun:"address"`
	Details       string `bun:"details"`
	Previous      string `bun:"previous"`
	Hash          string `bun:"hash"`
}

func newAuditRow(workspace string, e audit.Entry) auditRow {
	return auditRow{
		Workspace: workspace, Seq: e.Seq, At: micros(e.At), Actor: e.Actor, Action: e.Action, Object: e.Object, Outcome: e.Outcome,
		RequestID: e.RequestID, Address: e.Address, Details: string(e.Details), Previous: e.Previous, Hash: e.Hash,
	}
}

func (r auditRow) entry() audit.Entry {
	return audit.Entry{
		Seq: r.Seq, At: fromMicros(r.At), Actor: r.Actor, Action: r.Action, Object: r.Object, Outcome: r.Outcome,
		RequestID: r.RequestID, Address: r.Address, Details: json.RawMessage(r.Details), Previous: r.Previous, Hash: r.Hash,
	}
}

const insertPendingAudit = `INSERT INTO audit_pending (id, workspace, entry, waits, created_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO NOTHING`

func putPendingAudit(ctx context.Context, tx transaction, row audit.Row, waits bool) error {
	entry, err := encode(row.Entry)
	if err == nil {
		_, err = tx.exec(ctx, insertPendingAudit, row.ID, row.Workspace, entry, waits, micros(row.Entry.At))
	}
	if err != nil {
		return fmt.Errorf("write the audit of request %s: %w", row.ID, err)
	}
	return nil
}

// Append implements audit.Sink for a database that many processes write at the same time.
func (s *auditStore) Append(ctx context.Context, rows []audit.Row) error {
	if len(rows) == 0 {
		return nil
	}
	return s.write(ctx, "write the audit", func(ctx context.Context, tx transaction) error {
		for _, row := range rows {
			if err := putPendingAudit(ctx, tx, row, false); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExtendAudit implements audit.Store.
func (s *auditStore) ExtendAudit(ctx context.Context, b audit.Batch) (more bool, err error) {
	if len(b.Rows) == 0 && b.Position == nil {
		waits, err := s.reader.NewSelect().Model((*pendingAuditRow)(nil)).Where("p.waits = FALSE OR p.created_at < ?", micros(b.EndBefore)).Exists(ctx)
		if err != nil || !waits {
			return false, failure(err)
		}
	}
	err = s.write(ctx, "extend the audit", func(ctx context.Context, tx transaction) error {
		if alone, err := s.engine.alone(ctx, tx, "audit"); err != nil {
			return err
		} else if !alone {
			return knowledge.Errorf(knowledge.CodeConflict, "another process extends the audit")
		}
		waiting, err := takePendingAudit(ctx, tx, b)
		if err != nil {
			return err
		}
		more = len(waiting) == extendAtATime
		rows := slices.Concat(b.Rows, waiting)
		slices.SortStableFunc(rows, func(x, y audit.Row) int { return x.Entry.At.Compare(y.Entry.At) })
		if err := extendChains(ctx, tx, rows); err != nil {
			return err
		}
		return putJournalPosition(ctx, tx, b.Position)
	})
	return more, err
}

// takePendingAudit deletes the opening rows of changes that have ended, whose entries are in
// the batch, and takes the rows that wait for nothing.
func takePendingAudit(ctx context.Context, tx transaction, b audit.Batch) ([]audit.Row, error) {
	for ended := range slices.Chunk(b.Rows, 500) {
		ids := make([]string, len(ended))
		for i, row := range ended {
			ids[i] = row.ID
		}
		if _, err := tx.NewDelete().Model((*pendingAuditRow)(nil)).Where("id IN (?)", bun.List(ids)).Exec(ctx); err != nil {
			return nil, err
		}
	}
	var found []pendingAuditRow
	err := tx.NewSelect().Model(&found).Where("p.waits = FALSE OR p.created_at < ?", micros(b.EndBefore)).OrderExpr("p.created_at, p.id").Limit(extendAtATime).Scan(ctx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	rows, ids := make([]audit.Row, len(found)), make([]string, len(found))
	for i, f := range found {
		rows[i], ids[i] = audit.Row{ID: f.ID, Workspace: f.Workspace}, f.ID
		if err := json.Unmarshal([]byte(f.Entry), &rows[i].Entry); err != nil {
			return nil, fmt.Errorf("decode the audit of request %s: %w", f.ID, err)
		}
	}
	_, err = tx.NewDelete().Model((*pendingAuditRow)(nil)).Where("id IN (?)", bun.List(ids)).Exec(ctx)
	return rows, err
}

// chainRow is the newest entry of a workspace.
type chainRow struct {
	bun.BaseModel `bun:"table:audit_chains,alias:c"`
	Workspace     string `bun:"workspace,pk"`
	Seq           int64  `bun:"seq"`
	Hash          string `bun:"hash"`
}

// extendChains appends rows to the chains of their workspaces.
func extendChains(ctx context.Context, tx transaction, rows []audit.Row) error {
	chains := map[string]*chainRow{}
	for _, row := range rows {
		workspace, err := auditedWorkspace(ctx, tx, row.Workspace, chains)
		if err != nil {
			return err
		}
		chain := chains[workspace]
		e := row.Entry.Link(chain.Seq+1, chain.Hash)
		chain.Seq, chain.Hash = e.Seq, e.Hash
		entry := newAuditRow(workspace, e)
		if err := auditTable.insert(ctx, tx, &entry); err != nil {
			return err
		}
		for _, object := range e.Objects() {
			if _, err := tx.exec(ctx, "INSERT INTO audit_objects (workspace, object, seq) VALUES (?1, ?2, ?3)", workspace, object, e.Seq); err != nil {
				return err
			}
		}
	}
	for _, chain := range chains {
		_, err := tx.NewInsert().Model(chain).On("CONFLICT (workspace) DO UPDATE").Set("seq = EXCLUDED.seq").Set("hash = EXCLUDED.hash").Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// auditedWorkspace returns the workspace whose audit has an entry, and reads its chain if
// chains has it not.
func auditedWorkspace(ctx context.Context, tx transaction, workspace string, chains map[string]*chainRow) (string, error) {
	if chains[workspace] != nil {
		return workspace, nil
	}
	there, err := tx.NewSelect().TableExpr("workspaces").Where("id = ?", workspace).Exists(ctx)
	if err != nil {
		return "", err
	}
	if !there {
		workspace = auditWorkspace
	}
	if chains[workspace] != nil {
		return workspace, nil
	}
	chain := &chainRow{Workspace: workspace, Hash: audit.Genesis(workspace)}
	if _, err := found(tx.NewSelect().Model(chain).WherePK().Scan(ctx)); err != nil {
		return "", err
	}
	chains[workspace] = chain
	return workspace, nil
}

// journalSetting is the setting with the position up to which the database has the rows of
// the journal.
const journalSetting = "audit_journal"

func putJournalPosition(ctx context.Context, tx transaction, at *audit.Position) error {
	if at == nil {
		return nil
	}
	value, err := encode(at)
	if err != nil {
		return err
	}
	row := settingRow{Name: journalSetting, Value: value}
	_, err = tx.NewInsert().Model(&row).On("CONFLICT (name) DO UPDATE").Set("value = EXCLUDED.value").Exec(ctx)
	return err
}

// AuditPosition returns the position up to which the database has the rows of the journal.
func (s *auditStore) AuditPosition(ctx context.Context) (at audit.Position, err error) {
	row := settingRow{Name: journalSetting}
	there, err := found(s.reader.NewSelect().Model(&row).WherePK().Scan(ctx))
	if err != nil || !there {
		return at, failure(err)
	}
	return at, decode(field{row.Value, &at})
}

// maxTime is the end of a query without one.
func maxTime(t time.Time) int64 { return cmp.Or(micros(t), bound(time.Time{})) }
