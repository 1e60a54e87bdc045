package localmodel

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// asksSummary ends a system prompt that asks for the notes of a conversation.
const asksSummary = "between the tags <summary> and </summary>, and nothing else."

const (
	// summaryLines is how many messages the notes mention: the newest.
	summaryLines = 12
	// summaryRunes bounds what they quote of each.
	summaryRunes = 160
)

// summarize returns the notes of a conversation, if the messages ask for some: the notes
// so far and the beginning of each message, which is not a summary that understands.
func summarize(messages []protocol.Message) (notes string, asked bool) {
	if len(messages) < 2 || !strings.HasSuffix(strings.TrimSpace(string(messages[0].Content)), asksSummary) {
		return "", false
	}
	var lines []string
	for line := range strings.Lines(string(messages[len(messages)-1].Content)) {
		if r := []rune(strings.TrimSpace(line)); len(r) > 0 && !strings.HasSuffix(string(r), ":") {
			lines = append(lines, string(r[:min(len(r), summaryRunes)]))
		}
	}
	lines = lines[max(0, len(lines)-summaryLines):]
	return "<summary>\n" + strings.Join(lines, "\n") + "\n</summary>", true
}
