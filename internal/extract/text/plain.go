package text

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Plain makes a paragraph of every run of lines between empty lines. Line ends
// inside a paragraph are kept: what they mean in plain text cannot be known.
func Plain(s string) []knowledge.Block {
	var blocks []knowledge.Block
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			blocks = append(blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: strings.Join(lines, "\n")})
			lines = lines[:0]
		}
	}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n\u00a0")
		if line == "" {
			flush()
			continue
		}
		lines = append(lines, line)
	}
	flush()
	return blocks
}

// Code makes code blocks of a source file. Every line keeps its indentation. A
// new block begins where an empty line is followed by one that is not
// indented, so that a block is about a function or a declaration.
func Code(s string) []knowledge.Block {
	var blocks []knowledge.Block
	var lines []string
	empty := 0
	flush := func() {
		if len(lines) > 0 {
			blocks = append(blocks, knowledge.Block{Kind: knowledge.BlockCode, Text: strings.Join(lines, "\n")})
			lines = lines[:0]
		}
	}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			empty++
			continue
		}
		if empty > 0 && line[0] != ' ' && line[0] != '\t' && !closes(line) {
			flush()
		}
		for range empty {
			if len(lines) > 0 {
				lines = append(lines, "")
			}
		}
		empty = 0
		lines = append(lines, line)
	}
	flush()
	return blocks
}

// closes reports whether a line that is not indented still belongs to what
// came before it.
func closes(line string) bool {
	return strings.ContainsRune(")]}", rune(line[0])) || strings.HasPrefix(line, "end")
}
