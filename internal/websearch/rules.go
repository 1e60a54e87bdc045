package websearch

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Searcher asks a search engine.
type Searcher interface {
	// Search returns pages, best first. A failure of the search engine is
	// CodeProviderFailed.
	Search(ctx context.Context, q Query) ([]Result, error)
}

// RulesOf returns the rules of a project's settings. asked are domains to which the caller
// restricts the search, none = all.
func RulesOf(c knowledge.WebSearchConfig, asked []string) (Rules, error) {
	var r Rules
	for _, given := range [][]string{asked, c.WhitelistedDomains} {
		only, err := ParseDomains("whitelisted_domains", given)
		if err != nil {
			return r, err
		}
		if len(only) > 0 {
			r.Only = append(r.Only, only)
		}
	}
	var err error
	if r.Never, err = ParseDomains("blacklistedDomains", c.BlacklistedDomains); err != nil {
		return r, err
	}
	r.Bonus, err = ParseDomains("bonusDomains", c.BonusDomains)
	return r, err
}

// Find asks for pages and returns those that may be used, best first, with their bonus.
func (r Rules) Find(ctx context.Context, web Searcher, q Query) ([]Result, error) {
	for _, only := range r.Only {
		q.Only = only
	}
	results, err := web.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.apply(results), nil
}

// apply returns the results that may be used, best first, with their bonus.
func (r Rules) apply(results []Result) []Result {
	found := []Result{}
	for _, one := range results {
		if r.Allow(one.URL) {
			one.Score = r.Score(one.URL, one.Score)
			found = append(found, one)
		}
	}
	if len(r.Bonus) > 0 {
		slices.SortStableFunc(found, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	}
	return found
}
