package chunk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// groupShare is the divisor of ChunkSize for the size of a group of sentences.
	groupShare = 10
	// maxGroups is how many groups are embedded at a time, which bounds the memory
	// for their vectors.
	maxGroups = 512
	// strongest is the share of the differences that end a chunk before it is full.
	strongest = 0.1
)

// semantic cuts the sections that are longer than a chunk between groups of
// sentences: where the vectors of two neighbouring groups differ most. Chunks do
// not overlap.
func (c cutter) semantic(ctx context.Context, embed func(context.Context, []string) ([][]float32, error)) ([]knowledge.Span, error) {
	c.overlap = 0
	var long []grouped
	count := 0
	var sections []knowledge.Span
	for section := range c.sections() {
		span := spanOf(section)
		sections = append(sections, span)
		if span.End-span.Start > c.size {
			groups := c.groups(section)
			long = append(long, grouped{span: span, ends: groups})
			count += len(groups)
		}
	}
	if err := c.compare(ctx, long, count, embed); err != nil {
		return nil, err
	}
	strong := strongDifference(long, count)
	var spans []knowledge.Span
	for _, section := range sections {
		if len(long) == 0 || long[0].span != section {
			spans = append(spans, section)
			continue
		}
		spans = append(spans, c.inWindows(c.divide(long[0], strong))...)
		long = long[1:]
	}
	return spans, nil
}

// grouped is a section as groups of sentences. differences[i] is how much the group
// that ends at ends[i] differs from the next one, 0 for equal directions up to 2.
type grouped struct {
	span        knowledge.Span
	ends        []int
	differences []float64
}

// groups returns the ends of groups of sentences, rows or lines: as many as are
// within a tenth of a chunk, but at least one.
func (c cutter) groups(section []block) []int {
	spans := pack(section[0].span.Start, c.partEnds(section), max(c.size/groupShare, 1), 0)
	ends := make([]int, len(spans))
	for i, span := range spans {
		ends[i] = span.End
	}
	return ends
}

// compare sets the differences between the groups of each section. It embeds the
// groups of all sections in their order, so that short sections share a call.
func (c cutter) compare(ctx context.Context, sections []grouped, count int, embed func(context.Context, []string) ([][]float32, error)) error {
	texts := make([]string, 0, min(count, maxGroups))
	var before []float32 // the vector of the group before the texts
	s, i := 0, 0         // the section and the group that the next vector is of
	flush := func() error {
		vectors, err := embed(ctx, texts)
		if err == nil && len(vectors) != len(texts) {
			err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
		}
		if err != nil {
			return fmt.Errorf("embed sentences: %w", err)
		}
		for _, vector := range vectors {
			if i > 0 {
				sections[s].differences = append(sections[s].differences, difference(before, vector))
			}
			before = vector
			if i++; i == len(sections[s].ends) {
				s, i = s+1, 0
			}
		}
		texts = texts[:0]
		return nil
	}
	for _, section := range sections {
		start := section.span.Start
		for _, end := range section.ends {
			texts = append(texts, c.groupText(knowledge.Span{Start: start, End: end}))
			start = end
			if len(texts) == maxGroups {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return flush()
}

// groupText returns the text of a group within the limit of tokens. Endpoints refuse
// a text without characters.
func (c cutter) groupText(group knowledge.Span) string {
	group = c.trim(group)
	return cmp.Or(c.limit.first(string(c.runes[group.Start:group.End]), 1), "-")
}

// difference returns 1 minus the cosine of two vectors; 1 if one has no direction.
func difference(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 1
	}
	return 1 - dot/math.Sqrt(aa*bb)
}

// strongDifference returns the difference that only the strongest ones of a document
// exceed.
func strongDifference(sections []grouped, count int) float64 {
	all := make([]float64, 0, count)
	for _, s := range sections {
		all = append(all, s.differences...)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(float64(len(all))*(1-strongest))]
}

// divide returns the spans of a section. Each has between a quarter and the whole
// of a chunk, where the groups allow that, and ends at the first strong difference,
// else at the largest.
func (c cutter) divide(s grouped, strong float64) []knowledge.Span {
	var spans []knowledge.Span
	start, least := s.span.Start, c.size/tinyShare
	for first := 0; start < s.span.End; {
		best := -1
		for i := first; i < len(s.differences) && s.ends[i]-start <= c.size && s.span.End-s.ends[i] >= least; i++ {
			if s.ends[i]-start < least {
				continue
			}
			if best < 0 || s.differences[i] > s.differences[best] {
				best = i
			}
			if s.differences[best] > strong {
				break
			}
		}
		end := s.span.End
		switch {
		case best >= 0 && (end-start > c.size || s.differences[best] > strong):
			end = s.ends[best]
		case end-start > c.size:
			best = c.lastGroup(s, first, start)
			end = s.ends[best]
		}
		spans = append(spans, knowledge.Span{Start: start, End: end})
		start, first = end, max(best, first)+1
	}
	return spans
}

// lastGroup returns the last group from first on that ends within a chunk from
// start, or first.
func (c cutter) lastGroup(s grouped, first, start int) int {
	last := first
	for i := first; i < len(s.ends) && s.ends[i]-start <= c.size; i++ {
		last = i
	}
	return last
}
