package retrieve

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxEntities bounds the entities of a question.
	maxEntities = 5
	// minEntityRunes is the least length of an entity: shorter ones are in many questions
	// by chance.
	minEntityRunes = 3
	// linkShare is the highest score that a link to an entity adds, where the best hit of
	// the search without links has 1.
	linkShare = 0.25
)

// link finds the entities of documents (metadata.entities) that the question names.
func (s *search) link(ctx context.Context) error {
	facets, err := s.facets(ctx)
	if err != nil {
		return err
	}
	s.choices.Entities = namedEntities(s.request.Query, frequent(facets.Entities, len(facets.Entities)))
	return nil
}

// namedEntities returns the names that a question has word by word, in any case. names
// are in the order of their importance.
func namedEntities(question string, names []string) []string {
	var named []string
	plain, words := strings.ToLower(question), spaced(question)
	for _, name := range names {
		if len(named) == maxEntities {
			break
		}
		switch lower := spaced(name); {
		case utf8.RuneCountInString(name) < minEntityRunes && !strings.ContainsFunc(name, knowledge.Unspaced), strings.TrimSpace(lower) == "":
		case strings.Contains(words, lower), strings.ContainsFunc(name, knowledge.Unspaced) && strings.Contains(plain, strings.ToLower(name)):
			named = append(named, name)
		}
	}
	return named
}

// spaced returns the words of a text in small letters, each between spaces.
func spaced(text string) string {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), other), " ") + " "
}

// linked returns the hits of the question in a generation among the documents that name
// one of its entities, best first.
func (s *search) linked(ctx context.Context, g *group, q index.Query) ([]knowledge.Hit, error) {
	var lists [][]knowledge.Hit
	for _, name := range s.choices.Entities {
		near := q
		near.Filter = slices.Concat(q.Filter, knowledge.Filter{{Field: knowledge.MetadataPrefix + knowledge.EntitiesKey, Type: knowledge.OpContains, Value: name}})
		dense, words, _, err := s.findOrWords(ctx, g, near, 0)
		if err != nil {
			return nil, err
		}
		lists = append(lists, s.fused(g, s.probes[0], dense, words))
	}
	return best(lists...), nil
}

// withLinks adds to the scores of hits a part of the scores of the linked ones.
func withLinks(hits, linked []knowledge.Hit) []knowledge.Hit {
	if len(linked) == 0 {
		return hits
	}
	return rescaled(sum(weighted{hits, 1}, weighted{linked, linkShare}), hits, linked)
}
