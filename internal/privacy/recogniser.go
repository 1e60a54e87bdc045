package privacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ErrNoAnswer marks the error of a recogniser that cannot answer now.
var ErrNoAnswer = errors.New("a recogniser of personal data does not answer")

// noAnswer is how long a caller waits before it asks such a recogniser again.
const noAnswer = 15 * time.Second

// NoAnswer returns the error of a recogniser that does not answer, for the cause cause. It is
// knowledge.CodeUnavailable, and is ErrNoAnswer.
func NoAnswer(name knowledge.PIIRecogniser, cause error) error {
	e := knowledge.Errorf(knowledge.CodeUnavailable, "personal data cannot be looked for, because the recogniser %s does not answer; nothing passes without it", string(name))
	e.Retryable, e.RetryAfter = true, noAnswer
	return e.WithCause(fmt.Errorf("%w: %w", ErrNoAnswer, cause))
}

// Recogniser finds personal data that takes more than the form of a value: names of persons
// and of places. It is safe for concurrent use.
type Recogniser interface {
	// Recognise returns, for each text, the values of the named entities in it, in any
	// order. They may overlap. The error of a recogniser that cannot answer now is
	// NoAnswer.
	Recognise(ctx context.Context, texts, entities []string) ([][]Finding, error)
}

// Recognisers are those of the instance. One that is missing is not configured.
type Recognisers map[knowledge.PIIRecogniser]Recogniser

// Finder returns a finder of rules that knows the personal data in the texts for which use
// asks a finder, whose result is then dropped.
func (r Recognisers) Finder(ctx context.Context, rules knowledge.PIIRules, use func(*Finder)) (*Finder, error) {
	by := rules.By()
	f := NewFinder(by[knowledge.RecogniserOwn])
	f.none, f.rules = len(by[knowledge.RecogniserOwn]) == 0, rules
	delete(by, knowledge.RecogniserOwn)
	if len(by) == 0 {
		return f, nil
	}
	asking := *f
	f.others, asking.asked = map[string][]Finding{}, map[string]bool{}
	use(&asking)
	var texts []string
	for text := range asking.asked {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	if len(texts) == 0 {
		return f, nil
	}
	for name, entities := range by {
		if err := r.ask(ctx, name, entities, texts, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// ask has a recogniser find entities in texts, and notes what it finds.
func (r Recognisers) ask(ctx context.Context, name knowledge.PIIRecogniser, entities, texts []string, f *Finder) error {
	recogniser := r[name]
	if recogniser == nil {
		return NoAnswer(name, errors.New("it is not configured"))
	}
	found, err := recogniser.Recognise(ctx, texts, entities)
	if err != nil {
		return err
	}
	for i, text := range texts {
		for _, finding := range found[i] {
			if finding.Score >= f.rules.Threshold(finding.Entity) {
				f.others[text] = append(f.others[text], finding)
			}
		}
	}
	return nil
}

// IsWord reports whether neither a letter nor a digit joins what stands in [start, end) of a
// text, in bytes, to what is around it.
func IsWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	behind, _ := utf8.DecodeRuneInString(text[end:])
	return !isWordPart(before) && !isWordPart(behind)
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
