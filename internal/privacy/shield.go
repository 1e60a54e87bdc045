package privacy

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Shield keeps personal data from a model: what goes to the model has placeholders in the
// place of values, and what comes back has the values again. It is for one request. Its
// table follows from the texts and their order, so a request that is made again has the same
// placeholders. Not safe for concurrent use.
type Shield struct {
	redactor *Redactor
	values   map[string]string // as first written, by the name of the placeholder
}

// NewShield returns a shield of what finder finds. literal are the texts that the model gets:
// a placeholder that stands in one of them already, as in those of a document that was
// redacted, is no placeholder of the shield.
func (f *Finder) NewShield(literal ...string) *Shield {
	s := &Shield{redactor: f.NewRedactor(), values: map[string]string{}}
	s.redactor.note = s.note
	for _, text := range literal {
		s.redactor.reserve(text)
	}
	return s
}

// longestName is more than the longest name of a placeholder has, in bytes.
const longestName = 64

// isPlaceholderName reports whether a text is a name as EMAIL_ADDRESS_1.
func isPlaceholderName(name string) bool {
	word, number := name[:strings.LastIndexByte(name, '_')+1], name[strings.LastIndexByte(name, '_')+1:]
	if word == "" || number == "" || len(name) > longestName || strings.Trim(number, "0123456789") != "" {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool { return r != '_' && (r|0x20 < 'a' || 'z' < r|0x20) })
}

// note remembers the value of a placeholder. A line break within a value is kept behind its
// placeholder, so it does not come back with the value.
func (s *Shield) note(placeholder, value string) {
	s.values[strings.Trim(placeholder, "<>")] = strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// Redact returns a text as the model gets it.
func (s *Shield) Redact(text string) string { return s.redactor.Text(text) }

// RedactJSON returns the text of a JSON value as the model gets it.
func (s *Shield) RedactJSON(text string) string { return s.redactor.JSON(text) }

// Restore returns a whole text of the model with values in the place of placeholders.
func (s *Shield) Restore(text string) string {
	r := s.NewRestorer(false)
	return r.Write(text) + r.Close()
}

// RestoreJSON returns the text of a JSON value with values in its texts.
func (s *Shield) RestoreJSON(text string) string {
	restored, ok := mapJSON(text, func(_, value string) string { return s.Restore(value) })
	if !ok {
		return s.Restore(text)
	}
	return restored
}

// NewRestorer returns a restorer of a text that streams, for what was redacted so far. inJSON means that the text is JSON,
// so that values are escaped as its texts are.
func (s *Shield) NewRestorer(inJSON bool) *Restorer {
	r := &Restorer{values: maps.Clone(s.values), names: slices.Sorted(maps.Keys(s.values))}
	if inJSON {
		for name, value := range r.values {
			text := quoted(value)
			r.values[name] = text[1 : len(text)-1]
		}
	}
	return r
}

// Mask returns a text in which the kind of each value stands in its place, without a number:
// for models that only compare texts.
func (f *Finder) Mask(text string) string {
	found := f.Find(text)
	if len(found) == 0 {
		return text
	}
	runes, at := []rune(text), 0
	var out strings.Builder
	for _, one := range found {
		out.WriteString(string(runes[at:one.Start]) + "<" + one.Entity + ">")
		at = one.End
	}
	return out.String() + string(runes[at:])
}

// Mask returns texts as Finder.Mask does. Its error is that of a recogniser that cannot answer.
func (r Recognisers) Mask(ctx context.Context, rules knowledge.PIIRules, texts []string) ([]string, error) {
	var masked []string
	mask := func(f *Finder) {
		masked = make([]string, len(texts))
		for i, text := range texts {
			masked[i] = f.Mask(text)
		}
	}
	finder, err := r.Finder(ctx, rules, mask)
	if err != nil {
		return nil, err
	}
	mask(finder)
	return masked, nil
}
