package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Rule is one of the rules by which a search decides whether it shows the passages of a
// document to a principal. All of them must hold.
type Rule string

// The rules, in the order in which they are applied.
const (
	RuleWorkspace Rule = "workspace"      // the principal acts in the document's workspace
	RuleProject   Rule = "project"        // the principal is not held to another project
	RuleRemoval   Rule = "removal"        // the document is not being removed
	RuleStatus    Rule = "status"         // the document is not inactive
	RuleVersion   Rule = "version"        // the document has a published version
	RuleLevel     Rule = "classification" // the principal's clearance covers that of the document
	RuleDenial    Rule = "denial"         // no grant denies the principal the document
	RuleAccess    Rule = "access"         // the principal has a token of the document, or a grant allows it
)

// condition is a rule as a condition on a document d. Its parameters are the workspace ?1,
// the project ?2 and the marks ?3 of the principal.
type condition struct {
	rule Rule
	sql  string
}

// The conditions of rules that other statements use too.
const (
	notRemoved = `d.removed = FALSE AND d.removing_upto = 0`
	active     = `d.inactive = FALSE`
)

// ofWorkspace is the condition on an alias that a row is of the workspace ?1.
func ofWorkspace(alias string) string { return alias + ".workspace = ?1" }

// ofProject is the condition on an alias that a row is of the project ?2, unless that is
// empty.
func ofProject(alias string) string { return "(?2 = '' OR " + alias + ".project = ?2)" }

// searchRules returns the rules of a search. The check of a search joins their conditions, and
// ExplainAccess selects each of them.
func searchRules() []condition {
	return []condition{
		{RuleWorkspace, ofWorkspace("d")},
		{RuleProject, ofProject("d")},
		{RuleRemoval, notRemoved},
		{RuleStatus, active},
		{RuleVersion, "d.published_version > 0"},
		{RuleLevel, cleared(tokens3)},
		{RuleDenial, undenied(tokens3)},
		{RuleAccess, admitted(tokens3)},
	}
}

// searched is the condition that all rules of a search hold for a document d. The marks of the
// principal are the parameter ?3.
func searched() string {
	var all []string
	for _, c := range searchRules() {
		all = append(all, c.sql)
	}
	return strings.Join(all, " AND ")
}

// RuleFinding is a rule, and whether it holds for a document and a reader.
type RuleFinding struct {
	Rule  Rule
	Holds bool
}

// AccessFindings are the rules of a search, in the order in which they are applied, for one
// document and one reader.
type AccessFindings struct {
	Document knowledge.Document
	Rules    []RuleFinding
	Tokens   []string          // of the reader that the document has too
	Grants   []knowledge.Grant // that mean the reader and the document, in the order of their ids
}

// Allowed reports whether a search of the reader shows passages of the document.
func (f AccessFindings) Allowed() bool {
	for _, r := range f.Rules {
		if !r.Holds {
			return false
		}
	}
	return len(f.Rules) > 0
}

// rulesOfDocument selects the outcome of each rule for the document ?4.
var rulesOfDocument = func() string {
	var columns []string
	for _, c := range searchRules() {
		columns = append(columns, "("+c.sql+")")
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM documents AS d WHERE d.id = ?4"
}()

// ExplainAccess returns which rules let a search of a reader show a document. The asker
// must have AccessRead for the project of the document: CodeForbidden without the
// permission, CodeNotFound for a document that the asker does not cover.
func (s *documentStore) ExplainAccess(ctx context.Context, asker, reader knowledge.Principal, documentID string) (AccessFindings, error) {
	if !asker.May(knowledge.AccessRead) {
		return AccessFindings{}, knowledge.Errorf(knowledge.CodeForbidden, "only whoever administers the project of a document may ask who sees it: use a key with the permission access.read")
	}
	row, err := s.readDocument(ctx, asker, documentID)
	if err != nil {
		return AccessFindings{}, err
	}
	found := AccessFindings{}
	if found.Document, err = row.document(); err != nil {
		return AccessFindings{}, err
	}
	rules := searchRules()
	holds := make([]bool, len(rules))
	targets := make([]any, len(rules))
	for i := range holds {
		targets[i] = &holds[i]
	}
	m, err := s.marks(ctx, reader)
	if err != nil {
		return AccessFindings{}, err
	}
	there, err := first(ctx, s.reader, targets, rulesOfDocument, reader.Workspace(), reader.Project(), m.list(), documentID)
	switch {
	case err != nil:
		return AccessFindings{}, fmt.Errorf("apply the rules of access to document %s: %w", documentID, failure(err))
	case !there:
		return AccessFindings{}, knowledge.NotFound("document", documentID)
	}
	for i, c := range rules {
		found.Rules = append(found.Rules, RuleFinding{c.rule, holds[i]})
	}
	if found.Tokens, err = s.sharedTokens(ctx, reader, documentID); err == nil {
		found.Grants, err = s.grantsOn(ctx, reader, found.Document)
	}
	return found, err
}

// sharedTokens returns the tokens that a reader and a document both have.
func (s *documentStore) sharedTokens(ctx context.Context, reader knowledge.Principal, documentID string) ([]string, error) {
	tokens := reader.Tokens()
	if len(tokens) == 0 {
		return nil, nil
	}
	var shared []string
	err := s.reader.NewSelect().TableExpr("document_tokens AS t").Column("t.token").
		Where("t.document_id = ? AND t.token IN (?)", documentID, bun.List(tokens)).OrderExpr("t.token").Scan(ctx, &shared)
	if err != nil {
		return nil, fmt.Errorf("read the access list of document %s: %w", documentID, failure(err))
	}
	return shared, nil
}
