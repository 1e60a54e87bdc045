package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// AuditQuery chooses entries of the audit. Empty fields choose all.
type AuditQuery struct {
	Since  time.Time
	Until  time.Time // exclusive
	Actor  string
	Action string
	Object string // an id or a name that an entry names, as its object or in its details
}

// requireAudit refuses a principal the audit of its workspace that it may not read.
func requireAudit(p knowledge.Principal) error {
	if !p.May(knowledge.AuditRead) {
		return knowledge.Errorf(knowledge.CodeForbidden, "only a key or a role with the permission audit.read reads the audit")
	}
	return requireWholeWorkspace(p, "audit")
}

// chosen restricts a query of entries.
func (q AuditQuery) chosen(s *bun.SelectQuery, workspace string) *bun.SelectQuery {
	s = s.Where("a.workspace = ?", workspace)
	if !q.Since.IsZero() || !q.Until.IsZero() {
		s = s.Where("a.at >= ? AND a.at < ?", micros(q.Since), maxTime(q.Until))
	}
	if q.Actor != "" {
		s = s.Where("a.actor = ?", q.Actor)
	}
	if q.Action != "" {
		s = s.Where("a.action = ?", q.Action)
	}
	if q.Object != "" {
		s = s.Where("EXISTS (SELECT 1 FROM audit_objects AS o WHERE o.workspace = a.workspace AND o.object = ? AND o.seq = a.seq)", q.Object)
	}
	return s
}

// Audit lists entries of the audit of the principal's workspace, newest first.
func (s *auditStore) Audit(ctx context.Context, p knowledge.Principal, q AuditQuery, page Page) ([]audit.Entry, string, error) {
	if err := requireAudit(p); err != nil {
		return nil, "", err
	}
	var rows []auditRow
	list, limit, err := inOrder(q.chosen(s.reader.NewSelect().Model(&rows), p.Workspace()), "a.seq", "DESC", "audit", page)
	if err != nil {
		return nil, "", err
	}
	if err := list.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list the audit: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r auditRow) position { return position{List: "audit", Order: r.Seq} })
	return convert(rows, auditRow.entry), cursor, nil
}

// AuditAfter lists up to limit entries behind a place, ascending, for somebody who reads all.
func (s *auditStore) AuditAfter(ctx context.Context, p knowledge.Principal, q AuditQuery, after int64, limit int) ([]audit.Entry, error) {
	if err := requireAudit(p); err != nil {
		return nil, err
	}
	return s.entriesAfter(ctx, p.Workspace(), q, after, limit)
}

func (s *auditStore) entriesAfter(ctx context.Context, workspace string, q AuditQuery, after int64, limit int) ([]audit.Entry, error) {
	var rows []auditRow
	err := q.chosen(s.reader.NewSelect().Model(&rows), workspace).Where("a.seq > ?", after).OrderExpr("a.seq").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", failure(err))
	}
	return convert(rows, auditRow.entry), nil
}

// AuditLinks implements audit.Store.
func (s *auditStore) AuditLinks(ctx context.Context, workspace string, after int64, limit int) ([]audit.Entry, error) {
	return s.entriesAfter(ctx, workspace, AuditQuery{}, after, limit)
}

// AuditHeads implements audit.Store.
func (s *auditStore) AuditHeads(ctx context.Context) ([]audit.Head, error) {
	var rows []chainRow
	if err := s.reader.NewSelect().Model(&rows).OrderExpr("c.workspace").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list the chains of the audit: %w", failure(err))
	}
	return convert(rows, func(r chainRow) audit.Head { return audit.Head{Workspace: r.Workspace, Seq: r.Seq, Hash: r.Hash} }), nil
}
