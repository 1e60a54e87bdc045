package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// DocumentSummary counts documents.
type DocumentSummary struct {
	ByStatus map[knowledge.Status]int
	Failed   []FailedDocuments  // by code, the most first
	Waiting  []WaitingDocuments // by code and message, the most first
}

// FailedDocuments are the failed documents with one code.
type FailedDocuments struct {
	Code         knowledge.Code
	Count        int // without those whose failure is acknowledged
	Acknowledged int
	Example      string // id of one of Count; "" = there is none
	ExternalID   string // of the example
	Error        knowledge.DocumentError
}

// WaitingDocuments are pending documents that nothing works on, with one cause.
type WaitingDocuments struct {
	Code    knowledge.Code // of the failure after which a step waits; "" = nothing was heard of them
	Message string
	Count   int
	Since   time.Time // of the one that waits longest
}

// listable is readable, for the columns of documents d: the arguments begin with ?1.
func listable(p knowledge.Principal, m marks) (condition string, args []any) {
	args = []any{p.Workspace(), p.Project(), m.list()}
	if p.Can(knowledge.ScopeWrite) {
		return inScope("d") + " AND " + manageable(tokens3), args
	}
	return inScope("d") + " AND " + visible(tokens3), args
}

const (
	statusCounts = `SELECT CASE WHEN d.removing_upto > 0 THEN 'deleting' WHEN d.inactive = TRUE THEN 'inactive' ELSE d.status END AS state, COUNT(*)
FROM documents AS d WHERE `

	failedCounts = `SELECT g.code, g.failed, g.acknowledged, COALESCE(e.id, ''), COALESCE(e.external_id, ''), COALESCE(e.error, '') FROM (
	SELECT json_extract(d.error, '$.code') AS code, SUM(CASE WHEN d.acknowledged_version = d.version THEN 0 ELSE 1 END) AS failed,
		SUM(CASE WHEN d.acknowledged_version = d.version THEN 1 ELSE 0 END) AS acknowledged,
		MIN(CASE WHEN d.acknowledged_version = d.version THEN NULL ELSE d.id END) AS example
	FROM documents AS d WHERE d.status = 'error' AND d.removing_upto = 0 AND d.inactive = FALSE AND d.error <> '' AND `
	failedExamples = ` GROUP BY code) AS g LEFT JOIN documents AS e ON e.id = g.example ORDER BY g.failed DESC, g.code`

	waitingCounts = `SELECT code, message, COUNT(*), MIN(since), MIN(updated_at) FROM (
	SELECT CASE WHEN d.waiting <> '' THEN json_extract(d.waiting, '$.code') ELSE '' END AS code,
		CASE WHEN d.waiting <> '' THEN json_extract(d.waiting, '$.message') ELSE '' END AS message,
		CASE WHEN d.waiting <> '' THEN json_extract(d.waiting, '$.since') ELSE '' END AS since, d.updated_at
	FROM documents AS d WHERE d.status = 'pending' AND d.removing_upto = 0 AND d.inactive = FALSE AND (d.waiting <> '' OR d.updated_at < ?%d) AND `
	waitingGroups = `) AS w GROUP BY code, message`

	heldCauses = `SELECT w.code, w.message, CAST(SUM(w.objects) AS BIGINT), MIN(w.since) FROM import_waits AS w JOIN imports AS i ON i.number = w.import
WHERE i.status = 'running' AND i.workspace = ?1 AND (?2 = '' OR i.project = ?2) GROUP BY w.code, w.message`
)

// DocumentSummary counts the documents that Documents lists, by status, by the code of their
// failure, and by the cause for which they wait or, with no code, were not heard of since
// before. With the write scope the objects that wait in imports are counted too.
func (s *documentStore) DocumentSummary(ctx context.Context, p knowledge.Principal, before time.Time) (DocumentSummary, error) {
	found := DocumentSummary{ByStatus: map[knowledge.Status]int{}}
	if err := requireWorkspace(p); err != nil {
		return found, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return found, err
	}
	condition, args := listable(p, m)
	err = each(ctx, s.reader, statusCounts+condition+" GROUP BY state", args, func(rows *sql.Rows) error {
		var status knowledge.Status
		var n int
		err := rows.Scan(&status, &n)
		found.ByStatus[status] = n
		return err
	})
	if err == nil {
		err = each(ctx, s.reader, failedCounts+condition+failedExamples, args, found.addFailed)
	}
	if err == nil {
		query := fmt.Sprintf(waitingCounts, len(args)+1) + condition + waitingGroups
		err = each(ctx, s.reader, query, append(args, micros(before)), found.addWaiting)
	}
	if err == nil && p.Can(knowledge.ScopeWrite) {
		err = each(ctx, s.reader, heldCauses, args[:2], found.addHeld)
	}
	if err != nil {
		return found, fmt.Errorf("count documents by cause: %w", failure(err))
	}
	slices.SortFunc(found.Waiting, func(a, b WaitingDocuments) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(string(a.Code)+a.Message, string(b.Code)+b.Message)
	})
	return found, nil
}

func (d *DocumentSummary) addFailed(rows *sql.Rows) error {
	var f FailedDocuments
	var text string
	if err := rows.Scan(&f.Code, &f.Count, &f.Acknowledged, &f.Example, &f.ExternalID, &text); err != nil {
		return err
	}
	d.Failed = append(d.Failed, f)
	if text == "" {
		return nil
	}
	return decode(field{text, &d.Failed[len(d.Failed)-1].Error})
}

func (d *DocumentSummary) addWaiting(rows *sql.Rows) error {
	var w WaitingDocuments
	var since string
	var updated int64
	if err := rows.Scan(&w.Code, &w.Message, &w.Count, &since, &updated); err != nil {
		return err
	}
	w.Since = fromMicros(updated)
	if since != "" {
		at, err := time.Parse(time.RFC3339Nano, since)
		if err != nil {
			return err
		}
		w.Since = at
	}
	d.Waiting = append(d.Waiting, w)
	return nil
}

// addHeld adds objects that wait in imports to the documents that wait for the same cause.
func (d *DocumentSummary) addHeld(rows *sql.Rows) error {
	var w WaitingDocuments
	var since int64
	if err := rows.Scan(&w.Code, &w.Message, &w.Count, &since); err != nil {
		return err
	}
	w.Since = fromMicros(since)
	at := slices.IndexFunc(d.Waiting, func(o WaitingDocuments) bool { return o.Code == w.Code && o.Message == w.Message })
	if at < 0 {
		d.Waiting = append(d.Waiting, w)
		return nil
	}
	d.Waiting[at].Count += w.Count
	if w.Since.Before(d.Waiting[at].Since) {
		d.Waiting[at].Since = w.Since
	}
	return nil
}
