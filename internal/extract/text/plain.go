package text

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Plain returns a paragraph for each run of lines between empty lines. It keeps
// the line ends inside a paragraph, because plain text does not tell which of
// them matter.
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

// Code returns the code blocks of a source file. Every line keeps its
// indentation. A new block begins where an empty line is followed by a line that
// is not indented, so that a block tends to be one function or declaration.
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
		if empty > 0 && line[0] != ' ' && line[0] != '\t' && !continuesBlock(line) {
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

// continuesBlock reports whether a line that is not indented still belongs to
// the lines before it.
func continuesBlock(line string) bool {
	return strings.ContainsRune(")]}", rune(line[0])) || strings.HasPrefix(line, "end")
}
