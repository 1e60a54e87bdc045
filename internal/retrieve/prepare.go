package retrieve

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// askTime bounds the wait for the chat model in a stage that prepares or compresses.
const askTime = 15 * time.Second

// Choices are what the stages of a search chose by themselves, for those who read the
// answer. The zero value means that nothing was chosen.
type Choices struct {
	Question  string           `json:"question,omitempty"`  // ai.enhanceQuery: searched in place of the question
	Strategy  string           `json:"strategy,omitempty"`  // ai.retrieval.route
	Questions []string         `json:"questions,omitempty"` // ai.retrieval.decompose: searched beside the question
	Phrasings []string         `json:"phrasings,omitempty"` // ai.retrieval.phrasings: searched beside the question
	Passage   string           `json:"passage,omitempty"`   // ai.retrieval.hyde: whose vector was searched
	Filter    knowledge.Filter `json:"filter,omitempty"`    // ai.selfQuery: one more condition of the search
	Entities  []string         `json:"entities,omitempty"`  // ai.retrieval.entities: which the question names
	// Translations of the question by language (ISO 639-3): ai.retrieval.translate.
	Translations map[string]string `json:"translations,omitempty"`
	// Sources of the passages, with ai.retrieval.web.
	Sources  *Sources           `json:"sources,omitempty"`
	Widened  bool               `json:"widened,omitempty"`  // nothing met Filter, so it was left out
	Failures map[string]Failure `json:"failures,omitempty"` // by the setting whose stage failed; the search continued without it
}

// IsZero reports whether nothing was chosen.
func (c Choices) IsZero() bool {
	return c.Question == "" && c.Strategy == "" && len(c.Questions)+len(c.Phrasings)+len(c.Translations)+len(c.Entities) == 0 && c.Passage == "" &&
		len(c.Filter) == 0 && len(c.Failures) == 0 && c.Sources == nil
}

// probe is one query to the legs.
type probe struct {
	part    bool // of the question, which asks for several things
	words   string
	meaning string // the text whose vector is searched
	// hypothesis is set if meaning has a passage that may answer the question in words that
	// the question does not have.
	hypothesis bool
}

// stage is an optional stage, named by its setting.
type stage struct {
	setting string
	on      bool
	run     func(context.Context) error
}

// enhanced runs the stage that decides what is searched.
func (s *search) enhanced(ctx context.Context) error {
	return s.together(ctx, stage{"enhanceQuery", s.request.Enhance, s.enhance})
}

// prepare runs the other stages that come before the legs, and sets the probes.
func (s *search) prepare(ctx context.Context) error {
	c := s.request.Config
	s.route()
	err := s.together(ctx, stage{"decompose", c.Decomposes() || s.several, s.decompose}, stage{"hyde", c.HyDE, s.hyde}, stage{"phrasings", c.Phrasings > 0, s.rephrase},
		stage{"selfQuery", s.request.SelfQuery, s.selfQuery}, stage{"translate", c.Translate, s.translate},
		stage{"entities", c.Entities, s.link})
	if err != nil {
		return err
	}
	s.vectors = map[string][][]float32{}
	s.probes = []*probe{{words: s.request.Query, meaning: s.request.Query}}
	if s.choices.Passage != "" {
		s.probes[0].meaning += "\n" + s.choices.Passage
		s.probes[0].hypothesis = true
	}
	for _, q := range s.choices.Phrasings {
		s.probes = append(s.probes, &probe{words: q, meaning: q})
	}
	for _, language := range slices.Sorted(maps.Keys(s.choices.Translations)) {
		q := s.choices.Translations[language]
		s.probes = append(s.probes, &probe{words: q, meaning: q})
	}
	for _, q := range s.choices.Questions {
		s.probes = append(s.probes, &probe{part: true, words: q, meaning: q})
	}
	return nil
}

// together runs stages concurrently. It notes those that fail; its error is the caller's
// cancellation.
func (s *search) together(ctx context.Context, stages ...stage) error {
	var running sync.WaitGroup
	for _, next := range stages {
		if !next.on {
			continue
		}
		running.Go(func() {
			defer s.clock.start(next.setting)()
			bounded, cancel := context.WithTimeout(ctx, askTime)
			defer cancel()
			if err := next.run(bounded); err != nil {
				s.failed(next.setting, failureOf(bounded, err), err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

func (s *search) failed(setting string, f Failure, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failures := maps.Clone(s.choices.Failures)
	if failures == nil {
		failures = map[string]Failure{}
	}
	failures[setting] = f
	s.choices.Failures = failures
	s.causes = append(s.causes, cause)
}

// asked is a question as it stands in the message to a chat model.
func asked(question string) string {
	return "<question>\n" + fence(truncate(question, maxEmbeddedRunes)) + "\n</question>\n"
}

// errEcho is the error of a model that repeats its message instead of doing what it says,
// as the offline model does.
var errEcho = errors.New("the model repeated its message")

// isEcho reports whether the text that a model wrote is the message that it read, or the
// question in it.
func (s *search) isEcho(text string) bool {
	return strings.Contains(text, "<question>") || strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(s.request.Query))
}

// line returns a text without surrounding white space and invisible characters, cut to a
// number of code points.
func line(text string, runes int) string {
	return truncate(strings.TrimSpace(knowledge.Visible(text)), runes)
}
