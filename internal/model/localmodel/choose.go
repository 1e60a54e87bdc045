package localmodel

import (
	"encoding/json"
	"regexp"
	"strings"
)

// filterTool is the name of the tool that chooses by tags which documents are searched.
const filterTool = "choose_filters"

var (
	tagList  = regexp.MustCompile(`(?s)^<tags>\n(.*?)</tags>`)
	askedTag = regexp.MustCompile(`(?s)<question>\n(.*)\n</question>`)
)

// chooseFilters returns the arguments of filterTool for the user's last message: the tags
// that the question names word by word, and no other condition.
func chooseFilters(message string) string {
	chosen := []string{}
	list, question := tagList.FindStringSubmatch(message), askedTag.FindStringSubmatch(message)
	if list != nil && question != nil {
		for line := range strings.Lines(list[1]) {
			tag := strings.TrimSpace(strings.TrimPrefix(line, "- "))
			if tag != "" && strings.Contains(joinWords(question[1]), joinWords(tag)) && joinWords(tag) != " " {
				chosen = append(chosen, tag)
			}
		}
	}
	b, err := json.Marshal(map[string]any{"tags": chosen, "filters": []any{}})
	if err != nil {
		return "{}" // texts always marshal
	}
	return string(b)
}

// joinWords returns the words of a text in small letters, each between spaces.
func joinWords(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	w := words{text: text}
	for {
		word, ok := w.next()
		if !ok {
			return b.String()
		}
		b.Write(word)
		b.WriteByte(' ')
	}
}
