package pipeline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// NewExtracted returns what a step at the place extracted is sent about a layout.
func NewExtracted(d Document, layout knowledge.Layout) Extracted {
	in := Extracted{At: knowledge.PipelineExtracted, Document: d, Blocks: make([]Block, 0, len(layout.Blocks))}
	for i, b := range layout.Blocks {
		in.Blocks = append(in.Blocks, Block{Index: i, Kind: b.Kind, Level: b.Level, Page: b.FirstPage(), Text: b.Text})
	}
	return in
}

// Apply returns the layout with the changes of a step, and the pages of the blocks whose text
// it changed, 0 for a block without a page. changed reports whether there are changes. A
// changed block keeps the page on which it begins and its box there, and has no lines, cells or
// times of its words any more, because these belong to the text of the file.
func (a ExtractedAnswer) Apply(layout knowledge.Layout) (out knowledge.Layout, pages []int, changed bool, err error) {
	if err := a.Reject.check(); err != nil {
		return layout, nil, false, err
	}
	if err := a.check(); err != nil {
		return layout, nil, false, err
	}
	out, dropped := layout, map[int]bool{}
	out.Blocks = slices.Clone(layout.Blocks)
	named := map[int]bool{}
	for _, c := range a.Blocks {
		switch {
		case c.Index < 0 || c.Index >= len(layout.Blocks) || named[c.Index]:
			return layout, nil, false, failed("it named block %d, which is not there or was named before", c.Index)
		case c.Drop == (c.Text != nil):
			return layout, nil, false, failed("it must give block %d either a text or drop: true", c.Index)
		}
		named[c.Index] = true
		if c.Drop {
			dropped[c.Index] = true
			continue
		}
		if *c.Text != layout.Blocks[c.Index].Text {
			out.Blocks[c.Index] = withText(layout.Blocks[c.Index], *c.Text)
			pages = append(pages, layout.Blocks[c.Index].FirstPage())
		}
	}
	kept := out.Blocks[:0]
	for i, b := range out.Blocks {
		if !dropped[i] {
			kept = append(kept, b)
		}
	}
	out.Blocks = kept
	return out, pages, len(pages)+len(dropped) > 0, nil
}

// withText returns a block with another text.
func withText(b knowledge.Block, text string) knowledge.Block {
	text = strings.ToValidUTF8(text, "\uFFFD")
	changed := knowledge.Block{Kind: b.Kind, Level: b.Level, Text: text, Origin: b.Origin, Figure: b.Figure, Time: b.Time, Described: b.Described}
	changed.Origin.LineByLine = false
	if b.Kind == knowledge.BlockTable {
		changed.Kind = knowledge.BlockParagraph // its rows are not known any more
	}
	page := b.FirstPage()
	if box, ok := b.BoxOn(page); ok && text != "" {
		changed.Lines = knowledge.Lines{{End: utf8.RuneCountInString(text), Page: page, Box: box}}
	}
	return changed
}

// NewBeforeEmbedding returns what a step at the place before_embedding is sent about chunks.
func NewBeforeEmbedding(d Document, chunks []knowledge.Chunk) BeforeEmbedding {
	in := BeforeEmbedding{At: knowledge.PipelineBeforeEmbedding, Document: d, Chunks: make([]Chunk, 0, len(chunks))}
	for i, c := range chunks {
		page := 0
		if len(c.Lines) > 0 {
			page = c.Lines[0].Page
		}
		in.Chunks = append(in.Chunks, Chunk{Index: i, Headings: c.HeadingPath, Page: page, Text: c.Text})
	}
	return in
}

// Apply returns the chunks with the changes of a step. holds reports whether the embedding model
// takes a text. The chunks keep their ordinals, which Renumber makes anew.
func (a BeforeEmbeddingAnswer) Apply(chunks []knowledge.Chunk, holds func(text string) bool) (out []knowledge.Chunk, changed bool, err error) {
	if err := a.check(); err != nil {
		return chunks, false, err
	}
	all, named, dropped := slices.Clone(chunks), map[int]bool{}, map[int]bool{}
	for _, c := range a.Chunks {
		switch {
		case c.Index < 0 || c.Index >= len(chunks) || named[c.Index]:
			return chunks, false, failed("it named chunk %d, which is not there or was named before", c.Index)
		case c.Drop == (c.Embed != nil):
			return chunks, false, failed("it must give chunk %d either embed or drop: true", c.Index)
		case c.Embed != nil && strings.TrimSpace(*c.Embed) == "":
			return chunks, false, failed("the text to embed of chunk %d is empty", c.Index)
		case c.Embed != nil && !holds(*c.Embed):
			return chunks, false, failed("the text to embed of chunk %d is longer than the embedding model takes", c.Index)
		}
		named[c.Index] = true
		dropped[c.Index] = c.Drop
		if c.Embed != nil {
			all[c.Index].Embedded = strings.ToValidUTF8(*c.Embed, "\uFFFD")
		}
	}
	for i, c := range all {
		if !dropped[i] {
			out = append(out, c)
		}
	}
	return out, len(named) > 0, nil
}

// Renumber sets the ordinals and ids of chunks again, from 0, after some were left out.
func Renumber(ref knowledge.VersionRef, chunks []knowledge.Chunk) {
	for i := range chunks {
		chunks[i].Ordinal, chunks[i].ID = i, knowledge.ChunkID(ref.Document, ref.Version, i)
	}
}

// Choose returns the places, in passages, of those that the step keeps, in its order. ok is
// false if it keeps all as they are.
func (a BeforePromptAnswer) Choose(passages []Passage) (places []int, ok bool, err error) {
	switch {
	case tooLong(a.Instructions) || tooLong(a.Question):
		return nil, false, failed("its instructions or its question have more than %d characters", maxWords)
	case a.Passages == nil:
		return nil, false, nil
	}
	for _, id := range *a.Passages {
		place := slices.IndexFunc(passages, func(p Passage) bool { return p.ID == id })
		if place < 0 || slices.Contains(places, place) {
			return nil, false, failed("it named passage %q, which was not found for the question or was named before", id)
		}
		places = append(places, place)
	}
	return places, true, nil
}

// Check returns the refusal of the step, or what is wrong with its answer.
func (a AfterAnswerAnswer) Check() error {
	if err := a.Reject.check(); err != nil {
		return err
	}
	if a.Answer != nil && (strings.TrimSpace(*a.Answer) == "" || tooLong(*a.Answer)) {
		return failed("its answer must have 1 to %d characters", maxWords)
	}
	return nil
}
