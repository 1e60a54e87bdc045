package retrievetest

import (
	"context"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// ExplainingStore is a store that explains who sees a document.
type ExplainingStore interface {
	Store
	ExplainAccess(ctx context.Context, asker, reader knowledge.Principal, document string) (store.AccessFindings, error)
}

// Explanations makes random changes in an empty store and an empty index, and compares
// after each what the explanation says of all documents with what the check in SQL and a
// search of the same principal return, until it has made a number of comparisons. It also
// fails the test if a rule never denied alone.
func Explanations(t *testing.T, s ExplainingStore, x index.Index, seed uint64, comparisons int) {
	t.Logf("seed %d", seed)
	w := newWorld(t, s, x, seed)
	made, allowed, alone := 0, 0, map[store.Rule]int{}
	for made < comparisons {
		changed := w.change()
		w.catchUp()
		for _, c := range []knowledge.Claims{w.holder(changed), w.anyone()} {
			found := w.found(c)
			for _, d := range w.documents {
				explained, err := s.ExplainAccess(t.Context(), administrator(d.workspace), knowledgetest.Principal(c), d.id)
				w.must(err)
				w.agrees(explained, d, c, found)
				if made++; explained.Allowed() {
					allowed++
				}
				if denying := deniedBy(explained); len(denying) == 1 {
					alone[denying[0]]++
				}
			}
		}
	}
	t.Logf("%d comparisons, %d allowed; rules that denied alone: %v", made, allowed, alone)
	for _, rule := range []store.Rule{store.RuleProject, store.RuleRemoval, store.RuleStatus, store.RuleVersion, store.RuleLevel, store.RuleDenial, store.RuleAccess} {
		if alone[rule] == 0 {
			t.Errorf("the rule %q never denied alone: the comparisons prove nothing of it", rule)
		}
	}
	if allowed < comparisons/100 {
		t.Errorf("only %d of %d comparisons were allowed", allowed, made)
	}
}

// found returns the documents whose passages a search returns.
func (w *world) found(c knowledge.Claims) map[string]bool {
	w.Helper()
	result, err := w.retriever.Retrieve(w.Context(), retrieve.Request{
		Principal: knowledgetest.Principal(c), Query: "common passages",
		Config: knowledge.RetrievalConfig{Strategy: knowledge.StrategyHybrid, NumberOfChunks: index.MaxLimit, Candidates: index.MaxLimit},
	})
	w.must(err)
	found := map[string]bool{}
	for _, context := range result.Contexts {
		found[context.DocumentID] = true
	}
	return found
}

// agrees compares an explanation with the check in SQL of all passages of the document, with
// a search, and with what a reader of the rights would say.
func (w *world) agrees(explained store.AccessFindings, d *document, c knowledge.Claims, found map[string]bool) {
	w.Helper()
	var hits []knowledge.Hit
	for _, v := range []version{d.published, d.pending} {
		for _, p := range v.chunks {
			hits = append(hits, knowledge.Hit{ChunkID: p.ID, DocumentID: d.id, Version: p.Version})
		}
	}
	checked, err := w.store.VisibleChunks(w.Context(), knowledgetest.Principal(c), nil, hits)
	w.must(err)
	allowed := explained.Allowed()
	if allowed != (len(checked) > 0) || allowed != found[d.id] || allowed != d.sees(c, nil) {
		w.Fatalf("document %+v for %+v: explained as %t by %v, the check returns %d passages, a search finds it: %t, and its rights say %t",
			d, c, allowed, explained.Rules, len(checked), found[d.id], d.sees(c, nil))
	}
}

// deniedBy returns the rules that do not hold.
func deniedBy(found store.AccessFindings) []store.Rule {
	var rules []store.Rule
	for _, r := range found.Rules {
		if !r.Holds {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

func administrator(workspace string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Permissions: []knowledge.Permission{knowledge.AccessRead}, KeyID: "administrator", Covered: []string{knowledge.EveryLevel}})
}
