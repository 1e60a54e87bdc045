package retrieve

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

//go:embed prompts/self_query.md
var selfQueryPrompt string

// FacetReader reads by what documents can be told apart.
type FacetReader interface {
	// Facets returns the facets of documents that the principal may read. Empty
	// projects means all that it covers.
	Facets(ctx context.Context, p knowledge.Principal, projects []string) (store.Facets, error)
}

// The limits of what a model chooses a filter from.
const (
	maxTagsOffered   = 200
	maxFieldsOffered = 20
	maxValuesOffered = 30 // of a field; one with more is not offered
)

// selfQuery has the chat model choose the tags and fields of the documents that are
// searched. The model's choice is one more condition: it never widens the search.
func (s *search) selfQuery(ctx context.Context) error {
	chosen, err := remembered(ctx, s, "self_query", func() (knowledge.Filter, error) { return s.askFilter(ctx) })
	if err != nil {
		return err
	}
	s.choices.Filter = chosen
	return nil
}

func (s *search) askFilter(ctx context.Context) (knowledge.Filter, error) {
	facets, err := s.facets(ctx)
	if err != nil {
		return nil, err
	}
	offered := offer(facets)
	if offered.empty() {
		return nil, nil
	}
	text := map[string]any{"type": "string"}
	condition := object("field", text, "type", map[string]any{"type": "string", "enum": []string{"eq", "ne", "gt", "gte", "lt", "lte"}},
		"value", map[string]any{"type": []string{"string", "number", "boolean"}})
	arguments, err := s.ask(ctx, Call{
		System: selfQueryPrompt, User: offered.String() + asked(s.request.Query), Tool: "choose_filters", Description: "Choose the documents to search.",
		Schema: object("tags", map[string]any{"type": "array", "items": text}, "filters", map[string]any{"type": "array", "items": condition}),
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Tags    []string         `json:"tags"`
		Filters knowledge.Filter `json:"filters"`
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the filters: %w", err)
	}
	return offered.accept(read.Tags, read.Filters), nil
}

// filter returns the conditions of the search: the conditions of the caller and of the
// project, and the ones that a model chose unless nothing met them.
func (s *search) filter() knowledge.Filter {
	all := slices.Concat(s.request.Filter, s.request.Scope)
	if s.choices.Widened {
		return all
	}
	return append(all, s.choices.Filter...)
}

// facets returns the facets of the documents that are searched.
func (s *search) facets(ctx context.Context) (store.Facets, error) {
	if s.models.Facets == nil {
		return store.Facets{}, errNotConfigured
	}
	defer s.clock.start("facets")()
	return s.models.Facets.Facets(ctx, s.request.Principal, s.request.Projects)
}

// offered are the tags and the values of fields from which a model chooses.
type offered struct {
	tags   []string
	fields map[string][]any
}

// offer returns the most frequent tags, and the fields that have few values but not one
// alone.
func offer(f store.Facets) offered {
	o := offered{tags: frequent(f.Tags, maxTagsOffered), fields: map[string][]any{}}
	put := func(field string, counts map[any]int) {
		delete(counts, "und") // the language of a text whose language is not known
		if len(counts) > 1 && len(counts) <= maxValuesOffered && len(o.fields) < maxFieldsOffered {
			o.fields[field] = frequent(counts, maxValuesOffered)
		}
	}
	put(knowledge.FieldLanguage, untyped(f.Languages))
	put(knowledge.FieldClassification, untyped(f.Classifications))
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		put(knowledge.MetadataPrefix+key, maps.Clone(f.Metadata[key]))
	}
	return o
}

func untyped(counts map[string]int) map[any]int {
	out := make(map[any]int, len(counts))
	for value, n := range counts {
		out[value] = n
	}
	return out
}

// frequent returns the keys with the highest counts, at most n.
func frequent[T comparable](counts map[T]int, n int) []T {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b T) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return keys[:min(n, len(keys))]
}

func (o offered) empty() bool { return len(o.tags) == 0 && len(o.fields) == 0 }

// String returns the choice as it stands in the message to a chat model.
func (o offered) String() string {
	var b strings.Builder
	b.WriteString("<tags>\n")
	for _, tag := range o.tags {
		fmt.Fprintf(&b, "- %s\n", fence(line(tag, maxQuestionRunes)))
	}
	b.WriteString("</tags>\n<fields>\n")
	for _, field := range slices.Sorted(maps.Keys(o.fields)) {
		values, err := json.Marshal(o.fields[field])
		if err != nil {
			continue // values that were read from JSON always marshal
		}
		fmt.Fprintf(&b, "- %s: %s\n", fence(line(field, maxQuestionRunes)), fence(string(values)))
	}
	b.WriteString("</fields>\n")
	return b.String()
}

// accept returns the conditions of a model's choice that were offered: a tag or value
// that no document has would find nothing.
func (o offered) accept(tags []string, conditions knowledge.Filter) knowledge.Filter {
	var accepted knowledge.Filter
	var known []string
	for _, tag := range tags {
		i := slices.IndexFunc(o.tags, func(have string) bool { return strings.EqualFold(have, strings.TrimSpace(tag)) })
		if i >= 0 && !slices.Contains(known, o.tags[i]) {
			known = append(known, o.tags[i])
		}
	}
	if len(known) > 0 {
		accepted = append(accepted, knowledge.Condition{Field: knowledge.FieldTags, Type: knowledge.OpIn, Value: known})
	}
	for _, c := range conditions {
		if len(accepted) < maxFieldsOffered && o.offers(c) && len(knowledge.Filter{c}.ConditionFields("")) == 0 {
			accepted = append(accepted, c)
		}
	}
	return accepted
}

func (o offered) offers(c knowledge.Condition) bool {
	values, ok := o.fields[c.Field]
	switch c.Type {
	case knowledge.OpEq, knowledge.OpNe:
		switch c.Value.(type) {
		case string, float64, bool: // others do not compare
			return ok && slices.Contains(values, c.Value)
		}
		return false
	case knowledge.OpGt, knowledge.OpGte, knowledge.OpLt, knowledge.OpLte:
		return ok
	}
	return false
}
