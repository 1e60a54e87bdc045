package retrieve_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// judge scores the texts that answer a question with 1.
func (c *collection) judge(_ context.Context, question string, texts []string) ([]float64, error) {
	right := map[string]bool{}
	for id := range c.relevant[c.number(question)] {
		right[c.chunks[id].Text] = true
	}
	scores := make([]float64, len(texts))
	for i, text := range texts {
		if right[text] {
			scores[i] = 1
		}
	}
	return scores, nil
}

// number returns the number of a question.
func (c *collection) number(question string) int {
	return 1 + slices.IndexFunc(c.questions, func(q string) bool { return strings.TrimSpace(q) == strings.TrimSpace(question) })
}

// questionOf returns the question in a message to a model.
func questionOf(message string) string {
	question, _, _ := strings.Cut(strings.TrimPrefix(message, "<question>\n"), "\n</question>\n")
	return question
}

// pairs returns the collection with questions of which each is two of its own, and the
// answers of a model that splits them again.
func (c *collection) pairs() (pairs *collection, split func(context.Context, retrieve.Call) (string, error)) {
	pairs = &collection{documents: c.documents, relevant: map[int]map[string]bool{}, chunks: c.chunks}
	of := map[string][]string{}
	for i := 0; i+1 < len(c.questions); i += 2 {
		a, b := strings.TrimSpace(c.questions[i]), strings.TrimSpace(c.questions[i+1])
		pair := a + " " + b
		pairs.questions = append(pairs.questions, pair)
		of[pair] = []string{a, b}
		both := map[string]bool{}
		for _, n := range []int{i + 1, i + 2} {
			for id := range c.relevant[n] {
				both[id] = true
			}
		}
		pairs.relevant[len(pairs.questions)] = both
	}
	return pairs, func(_ context.Context, call retrieve.Call) (string, error) {
		answer, err := json.Marshal(map[string]any{"questions": of[questionOf(call.User)], "several": []int{}})
		return string(answer), err
	}
}

// splitAtMarks is a model that splits a question behind its question marks.
func splitAtMarks(_ context.Context, call retrieve.Call) (string, error) {
	parts := strings.FieldsFunc(questionOf(call.User), func(r rune) bool { return r == '?' })
	answer, err := json.Marshal(map[string]any{"questions": parts, "several": []int{}})
	return string(answer), err
}

// withHeldDocument returns the questions that have several relevant documents, without the
// first of them, and a model that writes its text as the passage that would answer the
// question. So no passage is compared with itself.
func (c *collection) withHeldDocument() (held *collection, write func(context.Context, retrieve.Call) (string, error)) {
	held = &collection{documents: c.documents, relevant: map[int]map[string]bool{}, held: map[int]string{}, chunks: c.chunks}
	for i, question := range c.questions {
		var ids []string
		for id := range c.relevant[i+1] {
			ids = append(ids, id)
		}
		if len(ids) < 2 {
			continue
		}
		slices.Sort(ids)
		held.questions = append(held.questions, question)
		n := len(held.questions)
		held.held[n], held.relevant[n] = ids[0], map[string]bool{}
		for _, id := range ids[1:] {
			held.relevant[n][id] = true
		}
	}
	return held, func(_ context.Context, call retrieve.Call) (string, error) {
		text := c.chunks[held.held[held.number(questionOf(call.User))]].Text
		answer, err := json.Marshal(map[string]string{"passage": text})
		return string(answer), err
	}
}

var (
	passagePattern  = regexp.MustCompile(`(?s)<passage number="\d+">\n(.*?)</passage>`)
	sentencePattern = regexp.MustCompile(`(?m)^\d+: (.*)$`)
)

// keepSentences is a model that keeps all sentences of the passages that answer a question,
// and none of the others.
func (c *collection) keepSentences(_ context.Context, call retrieve.Call) (string, error) {
	relevant := c.relevant[c.number(questionOf(call.User))]
	var lists [][]int
	for _, passage := range passagePattern.FindAllStringSubmatch(call.User, -1) {
		sentences := sentencePattern.FindAllStringSubmatch(passage[1], -1)
		answers := false
		for id := range relevant {
			answers = answers || !slices.ContainsFunc(sentences, func(s []string) bool { return !strings.Contains(c.chunks[id].Text, s[1]) })
		}
		numbers := []int{}
		for n := range sentences {
			if answers {
				numbers = append(numbers, n+1)
			}
		}
		lists = append(lists, numbers)
	}
	answer, err := json.Marshal(map[string]any{"passages": lists})
	return string(answer), err
}

// entitiesOf returns the entities of each document, as an enrichment that finds the terms
// of the field would: pairs of words that stand beside each other in 3 to 100 titles.
func (c *collection) entitiesOf() [][]any {
	pairs := make([][]string, len(c.titles))
	count := map[string]int{}
	for i, title := range c.titles {
		words := strings.Fields(title)
		for n := range max(0, len(words)-1) {
			pair := words[n] + " " + words[n+1]
			if len(words[n]) > 3 && len(words[n+1]) > 3 && !slices.Contains(pairs[i], pair) {
				pairs[i] = append(pairs[i], pair)
				count[pair]++
			}
		}
	}
	entities := make([][]any, len(pairs))
	for i := range pairs {
		for _, pair := range pairs[i] {
			if count[pair] >= 3 && count[pair] <= 100 {
				entities[i] = append(entities[i], pair)
			}
		}
	}
	return entities
}

// entities returns the entities of all documents with their numbers.
func (c *collection) entities() fixedFacets {
	count := map[string]int{}
	for _, names := range c.entitiesOf() {
		for _, name := range names {
			count[name.(string)]++
		}
	}
	return fixedFacets{Entities: count}
}

// shown is a PassageReader that shows all its chunks to everybody.
type shown struct {
	retrieve.PassageReader
	chunks
}

func (s shown) VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error) {
	return s.chunks.VisibleChunks(ctx, p, projects, hits)
}
