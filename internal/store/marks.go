package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// marks are what a principal brings to the rules of access, as one list of words: its tokens,
// the classifications that its clearance covers, and the objects of the grants that mean it at
// the moment. Statements compare documents with the list alone, so that a search, its check and
// its explanation apply the same rules.
type marks []string

// The words of marks. The first of each kind of grant stands in the list if there is any,
// which saves the comparison with each of them.
const (
	markLevel      = "c:" // a classification that is covered
	markAllowed    = "+"  // an object that may be read
	markDenied     = "-"  // an object that may not be read
	markWritable   = ">"  // an object that may be changed
	markUnwritable = "!"  // an object that may not be changed
)

// list are the marks as the JSON that statements take.
func (m marks) list() string { return jsonList(m) }

// bound are the marks as a list of values.
func (m marks) bound() any { return bun.List([]string(m)) }

// marks returns what a principal brings at this moment. Grants that have ended do not count.
func (s *database) marks(ctx context.Context, p knowledge.Principal) (marks, error) {
	m, err := marksIn(ctx, s.reader, p, micros(s.now()))
	if err != nil {
		return nil, fmt.Errorf("read the grants of a principal: %w", failure(err))
	}
	return m, nil
}

// activeGrants are the grants of the workspace ?1 to the subjects ?3 that hold at the time ?2.
const activeGrants = `SELECT g.id, g.object, g.effect, g.permission FROM grants AS g
WHERE g.workspace = ?1 AND (g.expires_at = 0 OR g.expires_at > ?2) AND g.subject IN (` + tokens3 + `) ORDER BY g.id`

// marksIn is marks at a time, as a transaction sees the grants.
func marksIn(ctx context.Context, db querier, p knowledge.Principal, now int64) (marks, error) {
	tokens := p.Tokens()
	m := make(marks, len(tokens), len(tokens)+8)
	copy(m, tokens)
	for _, level := range p.Covered() {
		m = append(m, markLevel+level)
	}
	subjects := p.SubjectTokens()
	if len(subjects) == 0 {
		return m, nil
	}
	rows, err := db.query(ctx, activeGrants, p.Workspace(), now, jsonList(subjects))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var g knowledge.Grant
		if err := rows.Scan(&g.ID, &g.Object, &g.Effect, &g.Permission); err != nil {
			return nil, err
		}
		m = m.with(g, len(tokens) > 0)
	}
	return m, rows.Err()
}

// with adds a grant. reads is false for a principal that may read no document at all.
func (m marks) with(g knowledge.Grant, reads bool) marks {
	var kinds []string
	switch isWrite := g.Permission == knowledge.GrantWrite; {
	case g.Effect == knowledge.GrantDeny && isWrite:
		kinds = []string{markUnwritable}
	case g.Effect == knowledge.GrantDeny:
		kinds = []string{markDenied, markUnwritable}
	case !reads:
	case isWrite:
		kinds = []string{markAllowed, markWritable}
	default:
		kinds = []string{markAllowed}
	}
	for _, kind := range kinds {
		if !slices.Contains(m, kind) {
			m = append(m, kind)
		}
		m = append(m, kind+g.Object)
	}
	return m
}

// granted returns the objects of the grants for the index.
func (m marks) granted() knowledge.Granted {
	var g knowledge.Granted
	for _, mark := range m {
		if object, ok := strings.CutPrefix(mark, markAllowed); ok {
			g.Allowed.Add(object)
		} else if object, ok := strings.CutPrefix(mark, markDenied); ok {
			g.Denied.Add(object)
		}
	}
	return g
}

// Granted returns what the grants of a principal open to it and hide from it now.
func (s *chunkStore) Granted(ctx context.Context, p knowledge.Principal) (knowledge.Granted, error) {
	m, err := s.marks(ctx, p)
	return m.granted(), err
}

// cleared is the condition that the marks cover the classification of a document d.
func cleared(list string) string {
	return "('" + markLevel + "' || d.classification IN (" + list + ") OR '" + markLevel + knowledge.EveryLevel + "' IN (" + list + "))"
}

// among is the condition that a document d is among the objects of a kind of grant.
func among(kind, list string) string {
	return "('" + kind + "' IN (" + list + ") AND ('" + kind + knowledge.ObjectDocument + "' || d.id IN (" + list + ") OR '" +
		kind + knowledge.ObjectProject + "' || d.project IN (" + list + ") OR EXISTS (SELECT 1 FROM document_tags AS o WHERE o.document_id = d.id AND '" +
		kind + knowledge.ObjectTag + "' || o.tag IN (" + list + "))))"
}

// undenied is the condition that no grant hides a document d.
func undenied(list string) string { return "NOT " + among(markDenied, list) }

// admitted is the condition that the access list of a document d, or a grant, lets a reader
// in.
func admitted(list string) string {
	return "(" + hasToken(list) + " OR " + among(markAllowed, list) + ")"
}

// manageable is the condition that a principal with the write scope may know of a document d:
// its clearance reaches it, and no grant hides it.
func manageable(list string) string {
	return "d.removed = FALSE AND " + cleared(list) + " AND " + undenied(list)
}
