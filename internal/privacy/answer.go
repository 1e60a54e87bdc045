package privacy

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Answer writes placeholders in the place of personal data while an answer streams through
// it. Text that could become a part of a value, or tell what a number is, is held back: the
// last words, and a number until the end of its sentence or line. Where a recogniser of names
// is asked, all is held back until the end of a sentence. Not safe for concurrent use.
type Answer struct {
	recognisers Recognisers
	rules       knowledge.PIIRules
	redactor    *Redactor
	others      bool // another recogniser is asked

	before  string // that was written, without placeholders, as far as it tells what follows is
	pending string
	noted   int // bytes at the beginning of pending in which nothing separates two values
}

// NewAnswer returns a redactor of one answer, which asks recognisers as rules say.
func (r Recognisers) NewAnswer(rules knowledge.PIIRules) *Answer {
	by := rules.By()
	delete(by, knowledge.RecogniserOwn)
	return &Answer{recognisers: r, rules: rules, redactor: NewFinder(nil).NewRedactor(), others: len(by) > 0}
}

// Write adds words and returns those that are certain by now.
func (a *Answer) Write(ctx context.Context, text string) (string, error) {
	a.pending += text
	return a.release(ctx, a.certain())
}

// Close returns what was held back.
func (a *Answer) Close(ctx context.Context) (string, error) {
	return a.release(ctx, len(a.pending))
}

// maxBefore bounds the text before a value that tells what it is, in bytes: a table whose header
// is further away has none.
const maxBefore = 16 << 10

// release returns the first n bytes that are pending, with placeholders.
func (a *Answer) release(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "", nil
	}
	text := a.pending[:n]
	whole := a.before + a.pending
	finder, err := a.recognisers.Finder(ctx, a.rules, func(f *Finder) { f.Find(text) })
	if err != nil {
		return "", err
	}
	start := runeCount(a.before)
	found := within(finder.own(whole), start, start+runeCount(text))
	found = merged(found, finder.others[text])
	out := a.redactor.editFound(text, found).text
	a.before, a.pending, a.noted = ending(a.before+text), a.pending[n:], max(0, a.noted-n)
	return out, nil
}

// within returns the findings of a text that lie in [start, end), with their places there.
func within(all []Finding, start, end int) []Finding {
	var found []Finding
	for _, f := range all {
		if f.Start >= start && f.End <= end {
			f.Start, f.End = f.Start-start, f.End-start
			found = append(found, f)
		}
	}
	return found
}

// ending returns the end of a text that tells what follows it: its last paragraph.
func ending(text string) string {
	if at := strings.LastIndex(text, "\n\n"); at >= 0 {
		text = text[at:]
	}
	if cut := len(text) - maxBefore; cut > 0 {
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		text = text[cut:]
	}
	return text
}

// certain returns how many bytes at the beginning of pending nothing that follows can change.
func (a *Answer) certain() (cut int) {
	for at := a.noted; at < len(a.pending); at++ {
		if c := a.pending[at]; c != ' ' && c != '\n' {
			continue
		}
		before, behind := a.pending[:at+1], a.pending[at+1:]
		if (!a.others || endsPart(before)) && separates(before, behind) {
			cut = at + 1
		}
	}
	a.noted = max(a.noted, len(a.pending)-reach)
	return cut
}

// endsPart reports whether a text ends with a sentence or a line.
func endsPart(text string) bool {
	if strings.HasSuffix(text, "\n") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " "))
	return strings.ContainsRune(".!?:;…", last)
}

const (
	farAway = 48  // bytes without a digit that end a value, and what a label behind it can reach
	reach   = 256 // bytes on which it depends whether a place separates what is around it
)

// separates reports whether no value, and no label of one, stands on both sides of a place
// between two words.
func separates(before, behind string) bool {
	if last := strings.LastIndexAny(before, "@0123456789"); last >= 0 && len(before)-last <= farAway {
		return strings.HasSuffix(before, "\n") && endsLine(before, behind)
	}
	trimmed := strings.TrimRight(before, " \n")
	if word := trimmed[strings.LastIndexAny(trimmed, " \n")+1:]; len(strings.TrimRight(word, ".,;:!?")) > shortWord {
		return true
	}
	words := strings.Fields(behind) // a value may begin with two short words
	return len(words) > 2 && !strings.ContainsAny(words[0]+words[1], "0123456789")
}

// endsLine reports whether a value of a line cannot go on in the next one.
func endsLine(before, behind string) bool {
	next := strings.TrimLeft(behind, " \t\n-./()+*#>")
	first, _ := utf8.DecodeRuneInString(next)
	if next == "" || unicode.IsDigit(first) {
		return false
	}
	if !unicode.IsLetter(first) {
		return true
	}
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " \t\n"))
	joined := unicode.IsLetter(end) || unicode.IsDigit(end) || end == '-' || end > unicode.MaxASCII
	return !joined || strings.Trim(behind[:len(behind)-len(next)], " \t") != ""
}

// Redact returns a whole text with placeholders. Its error is that of a recogniser that cannot
// answer.
func (r Recognisers) Redact(ctx context.Context, rules knowledge.PIIRules, text string) (string, error) {
	return r.redact(ctx, rules, func(re *Redactor) string { return re.Text(text) })
}

// RedactJSON returns the text of a JSON value with placeholders in its texts, and in the place
// of its numbers. A text that is no JSON is redacted as Redact does.
func (r Recognisers) RedactJSON(ctx context.Context, rules knowledge.PIIRules, text string) (string, error) {
	return r.redact(ctx, rules, func(re *Redactor) string { return re.JSON(text) })
}

func (r Recognisers) redact(ctx context.Context, rules knowledge.PIIRules, with func(*Redactor) string) (string, error) {
	finder, err := r.Finder(ctx, rules, func(f *Finder) { with(f.NewRedactor()) })
	if err != nil {
		return "", err
	}
	return with(finder.NewRedactor()), nil
}
