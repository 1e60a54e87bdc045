package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type checkpointRow struct {
	bun.BaseModel `bun:"table:audit_checkpoints,alias:c"`
	Workspace     string `bun:"workspace,pk"`
	Kind          string `bun:"kind,pk"`
	Day           string `bun:"day,pk"`
	Seq           int64  `bun:"seq"`
	Hash          string `bun:"hash"`
	At            int64  `bun:"at"`
	Signature     string `bun:"signature"`
}

func newCheckpointRow(c audit.Checkpoint) checkpointRow {
	return checkpointRow{Workspace: c.Workspace, Kind: c.Kind, Day: c.Day(), Seq: c.Seq, Hash: c.Hash, At: micros(c.At), Signature: c.Signature}
}

func (r checkpointRow) checkpoint() audit.Checkpoint {
	return audit.Checkpoint{Kind: r.Kind, Workspace: r.Workspace, Seq: r.Seq, Hash: r.Hash, At: fromMicros(r.At), Signature: r.Signature}
}

// CheckMayReadAudit refuses a principal that may not read the audit of its workspace.
func (s *auditStore) CheckMayReadAudit(p knowledge.Principal) error { return requireAudit(p) }

// AuditCheckpoints implements audit.Store.
func (s *auditStore) AuditCheckpoints(ctx context.Context, workspace string) ([]audit.Checkpoint, error) {
	var rows []checkpointRow
	if err := s.reader.NewSelect().Model(&rows).Where("c.workspace = ?", workspace).OrderExpr("c.seq, c.kind").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list the checkpoints of the audit: %w", failure(err))
	}
	return convert(rows, checkpointRow.checkpoint), nil
}

// PutAuditCheckpoint implements audit.Store.
func (s *auditStore) PutAuditCheckpoint(ctx context.Context, c audit.Checkpoint) error {
	return s.write(ctx, "store a checkpoint of the audit", func(ctx context.Context, tx transaction) error {
		if err := putCheckpoint(ctx, tx, c); err != nil {
			return err
		}
		return announceCheckpoint(ctx, tx, c, micros(s.now()))
	})
}

// announceCheckpoint adds the event of a checkpoint for each webhook of the workspace that wants
// it. An earlier checkpoint that a webhook has not taken yet is not sent any more: the new one
// covers it.
func announceCheckpoint(ctx context.Context, tx transaction, c audit.Checkpoint, now int64) error {
	projects, err := projectTable.all(ctx, tx, "p.workspace = ? AND p.removing_run = '' AND p.webhooks LIKE ?", c.Workspace, "%"+string(knowledge.WebhookCheckpoints)+"%")
	if err != nil {
		return err
	}
	snapshot, err := encode(c)
	if err != nil {
		return fmt.Errorf("encode a checkpoint of the audit: %w", err)
	}
	event := knowledge.DerivedID("event", string(knowledge.WebhookCheckpoints), c.Signature)
	for _, p := range projects {
		webhooks, err := webhooksThat(p.Webhooks, knowledge.WebhookCheckpoints)
		if err != nil {
			return err
		}
		for _, w := range webhooks {
			_, err := tx.exec(ctx, "UPDATE webhook_deliveries SET status = 'canceled', ended_at = ? WHERE webhook = ? AND type = ? AND status = 'pending'",
				now, w.ID, string(knowledge.WebhookCheckpoints))
			if err == nil {
				_, err = tx.exec(ctx, addDelivery, knowledge.DerivedID("delivery", event, w.ID), event, c.Workspace, p.ID, w.ID,
					string(knowledge.WebhookCheckpoints), c.Seq, string(knowledge.WebhookCheckpoints), snapshot, now)
			}
			if err == nil {
				err = wake(ctx, tx, WebhookQueue{c.Workspace, p.ID, w.ID}, now)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func putCheckpoint(ctx context.Context, tx transaction, c audit.Checkpoint) error {
	row := newCheckpointRow(c)
	_, err := tx.NewInsert().Model(&row).On("CONFLICT (workspace, kind, day) DO UPDATE").
		Set("seq = EXCLUDED.seq").Set("hash = EXCLUDED.hash").Set("at = EXCLUDED.at").Set("signature = EXCLUDED.signature").Exec(ctx)
	return err
}

// CutAudit implements audit.Store.
func (s *auditStore) CutAudit(ctx context.Context, workspace string, before time.Time, limit int, sign func(audit.Checkpoint) audit.Checkpoint) (cut audit.Checkpoint, removed int64, err error) {
	err = s.write(ctx, "cut the audit", func(ctx context.Context, tx transaction) error {
		cut, removed = audit.Checkpoint{}, 0
		last, n, err := oldestAudit(ctx, tx, workspace, before, limit)
		if err != nil || n == 0 {
			return err
		}
		for _, table := range []string{"audit_entries", "audit_objects"} {
			if _, err := tx.NewDelete().TableExpr(table).Where("workspace = ? AND seq <= ?", workspace, last.Seq).Exec(ctx); err != nil {
				return err
			}
		}
		_, err = tx.NewDelete().Model((*checkpointRow)(nil)).Where("workspace = ? AND kind = ? AND seq <= ?", workspace, audit.KindCheckpoint, last.Seq).Exec(ctx)
		if err != nil {
			return err
		}
		cut, removed = sign(audit.Checkpoint{Kind: audit.KindCut, Workspace: workspace, Seq: last.Seq, Hash: last.Hash, At: s.now()}), n
		return putCheckpoint(ctx, tx, cut)
	})
	return cut, removed, err
}

// oldestAudit returns the last of up to limit entries at the beginning of a chain that are all
// from before a time, and how many they are. The newest entry of the chain is not among them.
func oldestAudit(ctx context.Context, tx transaction, workspace string, before time.Time, limit int) (last auditRow, n int64, err error) {
	var rows []auditRow
	err = tx.NewSelect().Model(&rows).Where("a.workspace = ?", workspace).
		Where("a.seq < (SELECT c.seq FROM audit_chains AS c WHERE c.workspace = a.workspace)").OrderExpr("a.seq").Limit(int64(limit)).Scan(ctx)
	for _, row := range rows {
		if row.At >= micros(before) {
			break
		}
		last, n = row, n+1
	}
	return last, n, err
}
