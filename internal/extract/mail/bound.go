package mail

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Bounds of a message. The parser searches through all parts for the end of their
// list, and takes exponential time for parts inside each other.
const (
	maxParts  = 20_000
	maxLevels = 20
)

var boundaryIn = regexp.MustCompile(`(?i)boundary="?([^\s";]+)`)

// checkParts bounds the parts of a message, and how deep they are in other parts.
func checkParts(data []byte) error {
	known := map[string]bool{}
	var open []string // boundaries of the parts around a line
	parts := 0
	for line := range bytes.Lines(data) {
		if found := boundaryIn.FindSubmatch(line); found != nil {
			known[string(found[1])] = true
		}
		name, ends, ok := delimiter(line, known)
		if !ok {
			continue
		}
		parts++
		if i := slices.Index(open, name); i >= 0 {
			open = open[:i]
		}
		if !ends {
			open = append(open, name)
		}
		switch {
		case len(open) > maxLevels:
			return knowledge.Errorf(knowledge.CodeParseLimit, "the parts of the message are nested more than %d levels deep; send its attachments one by one", maxLevels)
		case parts > maxParts:
			return knowledge.Errorf(knowledge.CodeParseLimit, "the message has more than %d parts; split it", maxParts)
		}
	}
	return nil
}

// delimiter returns the boundary in a line that begins a part, or ends the last one.
func delimiter(line []byte, known map[string]bool) (name string, ends, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimRight(line, " \t\r\n"), []byte("--"))
	if !ok {
		return "", false, false
	}
	if known[string(rest)] {
		return string(rest), false, true
	}
	rest, ends = bytes.CutSuffix(rest, []byte("--"))
	return string(rest), ends, ends && known[string(rest)]
}
