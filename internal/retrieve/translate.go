package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/enrich"
)

//go:embed prompts/translate.md
var translatePrompt string

// maxTranslations bounds the languages into which a question is translated.
const maxTranslations = 3

// translate has the chat model translate the question into the other languages of the
// documents that are searched.
func (s *search) translate(ctx context.Context) error {
	translations, err := remembered(ctx, s, "translate", func() (map[string]string, error) { return s.askTranslations(ctx) })
	if err != nil {
		return err
	}
	s.choices.Translations = translations
	return nil
}

func (s *search) askTranslations(ctx context.Context) (map[string]string, error) {
	facets, err := s.facets(ctx)
	if err != nil {
		return nil, err
	}
	languages := otherLanguages(facets.Languages, enrich.Language(s.request.Query))
	if len(languages) == 0 {
		return nil, nil
	}
	text := map[string]any{"type": "string"}
	translation := object("language", map[string]any{"type": "string", "enum": languages}, "question", text)
	arguments, err := s.ask(ctx, Call{
		System: translatePrompt, User: "<languages>" + strings.Join(languages, ", ") + "</languages>\n" + asked(s.request.Query),
		Tool: "translate_question", Description: "Translate the question.",
		Schema: object("translations", map[string]any{"type": "array", "items": translation, "maxItems": len(languages)}),
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Translations []struct{ Language, Question string }
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the translations: %w", err)
	}
	if len(read.Translations) == 0 {
		return nil, fmt.Errorf("no translation into %s", strings.Join(languages, ", "))
	}
	translations := map[string]string{}
	for _, t := range read.Translations {
		question := line(t.Question, maxQuestionRunes)
		if slices.Contains(languages, t.Language) && question != "" && !s.isEcho(question) {
			translations[t.Language] = question
		}
	}
	return translations, nil
}

// otherLanguages returns the most frequent languages of documents, without the language
// of the question.
func otherLanguages(documents map[string]int, question string) []string {
	var other []string
	for _, language := range frequent(documents, len(documents)) {
		if language != question && language != enrich.Undetermined && len(other) < maxTranslations {
			other = append(other, language)
		}
	}
	return other
}
