package retrieve

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// LexicalEmbedder is an Embedder that compares words, at least in part.
type LexicalEmbedder interface {
	Embedder
	// Lexical returns how much of the nearness of two vectors only tells that their texts
	// share words or parts of words: 0 nothing, 1 all.
	Lexical() float64
}

// lexical returns how much of what an embedder compares are words.
func lexical(e Embedder) float64 {
	if e, ok := e.(LexicalEmbedder); ok {
		return e.Lexical()
	}
	return 0
}

// weights returns the shares of the legs: the shares of the project, or else the
// ones that the model and the hits suggest.
func (s *search) weights(g *group, question string, dense, words []knowledge.Hit) knowledge.Weights {
	if w := s.request.Config.Weights; w != nil {
		return *w
	}
	if lexical(g.embed) == 1 {
		return lexicalWeights(question)
	}
	if s.foreign {
		return knowledge.Weights{Dense: foreignDense, BM25: 1 - foreignDense}
	}
	if s.isSmall(g, dense) && !strings.ContainsAny(question, sharedByLanguages) {
		return knowledge.Weights{Dense: smallDense, BM25: 1 - smallDense}
	}
	factor := denseFactor
	if lexical(g.embed) > 0 {
		factor = mixedFactor
	}
	return semanticWeights(dense, words, factor, s.depth())
}

// smallDense is the share of the dense leg where fewer than fallDepth passages are
// searched. There any word is rare, "get" as much as "holiday", and the passage that
// shares a word with the question by chance leads BM25, so that it only decides between
// passages that are about equally near.
const smallDense = 0.95

// isSmall reports whether the dense leg found all passages, and few. The legs of a search
// in several stages are short for another reason.
func (s *search) isSmall(g *group, dense []knowledge.Hit) bool {
	return len(dense) > 0 && len(dense) < s.depth() && s.strategy(g) == knowledge.StrategyHybrid
}

// depth returns how many of a leg's hits are considered.
func (s *search) depth() int { return min(fallDepth, s.request.Config.Candidates) }

// foreignDense is the share of the dense leg of a question in another language than the
// texts. The few words that they share mislead BM25.
const foreignDense = 0.8

// foreignDepth is how many passages tell the language of the texts.
const foreignDepth = 10

// sharedByLanguages are in numbers and names of code, which are the same in all languages,
// so that BM25 finds them.
const sharedByLanguages = "0123456789_"

// isForeign reports whether most of the passages that a question found are in another
// language than the question. Then BM25 knows little, and the fusion is to be weighted
// for that. It matters only where both legs run with a model that compares meanings, and
// a project has set no weights.
func (s *search) isForeign(groups []*group, pool []Context) bool {
	if s.request.Config.Weights != nil || len(s.choices.Translations) > 0 || strings.ContainsAny(s.request.Query, sharedByLanguages) || !slices.ContainsFunc(groups, s.fusesMeanings) {
		return false
	}
	texts := languageOf(pool[:min(len(pool), foreignDepth)])
	if texts == "" {
		return false
	}
	return enrich.OtherThan(texts, s.request.Query)
}

// languageOf returns the language of more than half of the passages, "" if there is none.
func languageOf(pool []Context) string {
	times := map[string]int{}
	for _, c := range pool {
		if times[c.Language]++; 2*times[c.Language] > len(pool) && c.Language != enrich.Undetermined {
			return c.Language
		}
	}
	return ""
}

// fusesMeanings reports whether both legs search a group whose model compares meanings.
func (s *search) fusesMeanings(g *group) bool {
	if lexical(g.embed) == 1 {
		return false
	}
	return s.strategy(g) == knowledge.StrategyHybrid
}

// lexicalWeights returns the shares for a lexical model. Its vectors add little
// to BM25, which sees the same words: with the weights of other models the
// fused ranking is worse than BM25 alone by up to .04 nDCG@10. Its stems and
// its common words are English, so it adds less in other languages. A question
// whose language is uncertain counts as one in another language.
func lexicalWeights(question string) knowledge.Weights {
	if enrich.Language(question) == "eng" {
		return knowledge.Weights{Dense: 0.35, BM25: 0.65}
	}
	return knowledge.Weights{Dense: 0.05, BM25: 0.95}
}

// Limits of the share of the dense leg of a semantic model, and how many of a
// leg's hits are considered.
const (
	leastDense, mostDense = 0.3, 0.7
	denseFactor           = 1.2
	mixedFactor           = 1.0 // of vectors that compare words too, as BM25 does
	fallDepth             = 50
)

// semanticWeights returns the weights of the legs. A leg weighs more if its scores
// differ more between its hits. A model that does not know the language of a
// question finds all passages about equally near, and words that occur everywhere
// score all passages about equally: the scores of such a leg fall slowly from its
// first hit to its last.
func semanticWeights(dense, words []knowledge.Hit, factor float64, depth int) knowledge.Weights {
	nearness, match := fall(dense), fall(words)
	if len(words) > 0 && len(words) < depth {
		match = 1 // no other passage has any of the words
	}
	share := 0.0
	if nearness > 0 {
		share = factor * nearness / (nearness + match)
	}
	share = min(max(share, leastDense), mostDense)
	return knowledge.Weights{Dense: share, BM25: 1 - share}
}

// fall returns by how much the scores fall from the first hit to the last,
// relative to the first: 0 to 1.
func fall(hits []knowledge.Hit) float64 {
	hits = hits[:min(len(hits), fallDepth)]
	if len(hits) == 0 || hits[0].Score <= 0 {
		return 0
	}
	return min(1, 1-hits[len(hits)-1].Score/hits[0].Score)
}
