package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

//go:embed prompts/compress.md
var compressPrompt string

// compressedTogether is the number of passages of one call.
const compressedTogether = 10

// kept are the sentences of a passage that matter, as they are stored.
type kept struct {
	Spans  []knowledge.Span `json:"spans"`
	Length int              `json:"length"` // of the passage, in code points
}

// compress has the chat model choose the sentences that matter to the question. It drops
// passages without such a sentence, unless none has one. A passage is cited and found by
// its chunk all the same. If it fails, the passages stay whole.
func (s *search) compress(ctx context.Context, chosen []Context) ([]Context, error) {
	if !s.request.Config.Compress || len(chosen) == 0 {
		return chosen, nil
	}
	var parts map[string]kept
	err := s.together(ctx, stage{"compress", true, func(ctx context.Context) (err error) {
		parts, err = remembered(ctx, s, "compress", func() (map[string]kept, error) { return s.chooseSentences(ctx, chosen) })
		return err
	}})
	if err != nil {
		return nil, err
	}
	var left []Context
	for _, c := range chosen {
		part, known := parts[c.ID] // an earlier attempt may have chosen other passages
		if !known || len(part.Spans) > 0 {
			c.Kept, c.Length = part.Spans, part.Length
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return chosen, nil
	}
	for _, c := range chosen {
		if part, known := parts[c.ID]; known && len(part.Spans) == 0 {
			s.trace.drop(c.ChunkView, DropCompress)
		}
	}
	for i := range left {
		left[i].Rank = i + 1
	}
	return left, nil
}

// chooseSentences returns the sentences that matter by chunk id.
func (s *search) chooseSentences(ctx context.Context, chosen []Context) (map[string]kept, error) {
	if s.models.Passages == nil {
		return nil, errNotConfigured
	}
	ofDocuments := slices.DeleteFunc(slices.Clone(chosen), func(c Context) bool { return c.Page != nil }) // pages are short
	passages, err := Passages(ctx, s.models.Passages, s.request.Principal, ofDocuments)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make(map[string]kept, len(passages))
	var mu sync.Mutex
	var calls sync.WaitGroup
	for first := 0; first < len(passages); first += compressedTogether {
		last := min(first+compressedTogether, len(passages))
		calls.Go(func() {
			for i := first; i < last; i++ {
				passages[i].Text = strings.ToValidUTF8(passages[i].Text, "\ufffd")
			}
			texts := make([]string, 0, last-first)
			for _, p := range passages[first:last] {
				texts = append(texts, p.Text)
			}
			found, err := s.markSentences(ctx, texts)
			if err != nil {
				cancel(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i, k := range found {
				parts[passages[first+i].ChunkID] = k
			}
		})
	}
	calls.Wait()
	return parts, context.Cause(ctx)
}

// markSentences asks the model which sentences of a few texts matter.
func (s *search) markSentences(ctx context.Context, texts []string) ([]kept, error) {
	var user strings.Builder
	user.WriteString(asked(s.request.Query))
	sentences := make([][]knowledge.Span, len(texts))
	for i, text := range texts {
		runes := []rune(text)
		sentences[i] = sentenceSpans(runes)
		fmt.Fprintf(&user, "<passage number=\"%d\">\n", i+1)
		for n, span := range sentences[i] {
			fmt.Fprintf(&user, "%d: %s\n", n+1, fence(strings.TrimSpace(string(runes[span.Start:span.End]))))
		}
		user.WriteString("</passage>\n")
	}
	numbers := map[string]any{"type": "array", "items": map[string]any{"type": "integer", "minimum": 1}}
	arguments, err := s.ask(ctx, Call{
		System: compressPrompt, User: user.String(), Tool: "keep_sentences", Description: "Name the sentences that matter.",
		Schema: object("passages", map[string]any{"type": "array", "items": numbers, "minItems": len(texts), "maxItems": len(texts)}),
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Passages [][]int `json:"passages"`
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the sentences: %w", err)
	}
	if len(read.Passages) != len(texts) {
		return nil, fmt.Errorf("sentences of %d passages, want %d", len(read.Passages), len(texts))
	}
	parts := make([]kept, len(texts))
	for i, text := range texts {
		runes := []rune(text)
		parts[i] = kept{joinSpans(sentences[i], withTableHeaders(runes, sentences[i], read.Passages[i])), len(runes)}
	}
	return parts, nil
}

// isRow reports whether a text begins with a row of a table in Markdown.
func isRow(text []rune) bool { return len(text) > 0 && text[0] == '|' }

// dashes is the row below the header of a table in Markdown.
var dashes = regexp.MustCompile(`^\|[-:| ]+\|\s*$`)

// withTableHeaders returns the sentences that are wanted, 1 = first, with the header of each
// table of which a row is wanted.
func withTableHeaders(text []rune, sentences []knowledge.Span, numbers []int) map[int]bool {
	wanted := map[int]bool{}
	for _, n := range numbers {
		wanted[n] = true
	}
	first, header := 0, 0 // sentences of the table, and of the header that it begins with
	for i, span := range sentences {
		row := text[span.Start:span.End]
		if !isRow(row) {
			first, header = i+1, 0
			continue
		}
		if dashes.MatchString(string(row)) {
			header = i + 1
		}
		for n := first; n < header && wanted[i+1]; n++ {
			wanted[n+1] = true
		}
	}
	return wanted
}

// joinSpans returns the sentences that are wanted, 1 = first, in their order. Neighbours
// become one span.
func joinSpans(sentences []knowledge.Span, wanted map[int]bool) []knowledge.Span {
	var joined []knowledge.Span
	for i, span := range sentences {
		switch last := len(joined) - 1; {
		case !wanted[i+1]:
		case last >= 0 && joined[last].End == span.Start:
			joined[last].End = span.End
		default:
			joined = append(joined, span)
		}
	}
	return joined
}

// sentenceSpans cuts a text behind the ends of sentences and lines, but no row of a table.
// The spans are one after another and cover the text.
func sentenceSpans(text []rune) []knowledge.Span {
	var spans []knowledge.Span
	start := 0
	for i, r := range text {
		next := i + 1
		end := r == '\n' || !isRow(text[start:]) && (strings.ContainsRune("。！？", r) ||
			strings.ContainsRune(".!?؟।", r) && next < len(text) && unicode.IsSpace(text[next]) && text[next] != '\n')
		if end || next == len(text) {
			spans = append(spans, knowledge.Span{Start: start, End: next})
			start = next
		}
	}
	return spans
}

// keptText returns the parts of a passage that were kept. A passage that has another text
// by now is returned whole.
func keptText(c Context, text string) string {
	runes := []rune(text)
	if len(c.Kept) == 0 || len(runes) != c.Length {
		return text
	}
	var out strings.Builder
	inTable := false // the part before ends in a row
	for i, span := range c.Kept {
		if span.Start < 0 || span.Start > span.End || span.End > len(runes) {
			return text
		}
		part := strings.TrimSpace(string(runes[span.Start:span.End]))
		row := strings.HasPrefix(part, "|")
		switch {
		case i == 0:
		case inTable && row:
			out.WriteString("\n| […] |\n")
		case inTable || row:
			out.WriteString("\n[…]\n")
		default:
			out.WriteString(" […] ")
		}
		out.WriteString(part)
		inTable = strings.HasPrefix(part[strings.LastIndexByte(part, '\n')+1:], "|")
	}
	return out.String()
}
