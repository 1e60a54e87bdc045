package localmodel

import (
	"encoding/json"
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// rewriteTool is the name of the tool that asks for a question which stands alone. The message has
// the conversation, a line for each message, and the question:
//
//	<conversation>
//	user: …
//	assistant: …
//	</conversation>
//	<question>
//	…
//	</question>
const rewriteTool = "rewrite_question"

// rewriteQuestion returns the arguments of rewriteTool: the question, behind the one before it if it
// refers to that by a pronoun or leaves its subject out.
func rewriteQuestion(message string) string {
	conversation, rest, _ := strings.Cut(message, "</conversation>")
	_, asked, found := strings.Cut(rest, "<question>")
	if !found {
		_, asked, _ = strings.Cut(message, "<question>")
	}
	asked, _, _ = strings.Cut(asked, "</question>")
	var messages []protocol.Message
	for line := range strings.SplitSeq(conversation, "\n") {
		if said, ok := strings.CutPrefix(line, "user: "); ok {
			messages = append(messages, protocol.Message{Role: "user", Content: protocol.Content(said)})
		}
	}
	q := readQuestion(append(messages, protocol.Message{Role: "user", Content: protocol.Content(asked)}))
	arguments, err := json.Marshal(map[string]string{"question": strings.Join(strings.Fields(q.search()), " ")})
	if err != nil {
		return "{}" // a map of texts always marshals
	}
	return string(arguments)
}

// referring are words that stand for something said before, and opening are words that begin a
// question which leaves its subject to the one before. Both are in lower case. Words of other
// languages are here only if they have no other meaning in English.
var (
	referring = wordSet(`it its they them their this these those he she him her his there same
		er ihn ihm ihr ihre ihrem ihren ihrer ihres sie es dessen deren davon dafür damit darin daran darauf dazu dort diese diesem diesen dieser dieses jene jener
		il elle ils elles lui leur leurs celui celle ceux celles cela ça cette cet ces
		él ella ellos ellas sus esto eso ese esa aquello allí ahí
		esso essa essi loro suo sua suoi sue questo questa quello quella
		ele ela seu seus isso isto deste desta
		hij zij hem haar hun deze dit die daar daarvan ervan`)
	opening = wordSet("and but also else more und aber auch sonst et mais aussi y pero también e ma anche mas também en maar ook")
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
