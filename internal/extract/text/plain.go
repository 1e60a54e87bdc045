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
	number := 0 // of the line in the file
	flush := func() {
		if len(lines) > 0 {
			blocks = append(blocks, lineBlock(knowledge.BlockParagraph, lines, number-1))
			lines = lines[:0]
		}
	}
	for line := range strings.Lines(s) {
		number++
		line = strings.TrimRight(line, " \t\n\u00a0")
		if line == "" {
			flush()
			continue
		}
		lines = append(lines, line)
	}
	number++
	flush()
	return blocks
}

// lineBlock returns the block of successive lines of a file, of which last is the
// number of the last one.
func lineBlock(kind knowledge.BlockKind, lines []string, last int) knowledge.Block {
	return knowledge.Block{
		Kind: kind, Text: strings.Join(lines, "\n"), Origin: knowledge.Origin{First: last - len(lines) + 1, Last: last, LineByLine: true},
	}
}

// Code returns the code blocks of a source file. Every line keeps its
// indentation. A new block begins where an empty line is followed by a line that
// is not indented, so that a block tends to be one function or declaration.
func Code(s string) []knowledge.Block {
	var blocks []knowledge.Block
	var lines []string
	empty, last := 0, 0 // last is the number of the last line in lines
	flush := func() {
		if len(lines) > 0 {
			blocks = append(blocks, lineBlock(knowledge.BlockCode, lines, last))
			lines = lines[:0]
		}
	}
	number := 0
	for line := range strings.Lines(s) {
		number++
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
		lines, last = append(lines, line), number
	}
	flush()
	return blocks
}

// continuesBlock reports whether a line that is not indented still belongs to
// the lines before it.
func continuesBlock(line string) bool {
	return strings.ContainsRune(")]}", rune(line[0])) || strings.HasPrefix(line, "end")
}
