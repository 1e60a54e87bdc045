package enrich

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The prompts of the calls.
var (
	//go:embed describe.md
	describePrompt string
	//go:embed place.md
	placePrompt string
)

// The limits of a description.
const (
	maxDescribed = 24_000 // code points of a document that a model reads
	maxSummary   = 1000   // code points
	maxNames     = 20     // topics, entities and tags each
	maxNameRunes = 100
	maxSentence  = 300 // code points
)

// Call is a call of a model that must answer by calling a tool. Schema is the JSON
// schema of the tool's arguments.
type Call struct {
	System      string
	User        string
	Tool        string
	Description string
	Schema      json.RawMessage
}

// Description is what a model says of a document.
type Description struct {
	Summary  string   `json:"summary,omitempty"`
	Topics   []string `json:"topics,omitempty"`
	Entities []string `json:"entities,omitempty"`
	Tags     []string `json:"tags,omitempty"`
}

// Metadata returns the description as metadata of the document.
func (d Description) Metadata() map[string]any {
	metadata := map[string]any{}
	if d.Summary != "" {
		metadata["summary"] = d.Summary
	}
	if len(d.Topics) > 0 {
		metadata["topics"] = d.Topics
	}
	if len(d.Entities) > 0 {
		metadata[knowledge.EntitiesKey] = d.Entities
	}
	return metadata
}

// DescribeTool is the name of the tool of a Describe call.
const DescribeTool = "describe_document"

// Describe returns the call that describes a document by its passages. Of a long
// document the model reads the beginning and passages at equal distances.
func Describe(name string, passages []string, want knowledge.Enrichment) Call {
	properties := map[string]any{}
	var required []string
	add := func(wanted bool, field string, schema any) {
		if wanted {
			properties[field], required = schema, append(required, field)
		}
	}
	list := func(description string) any {
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": description}
	}
	add(want.Summary, "summary", map[string]any{"type": "string", "description": "what the document is and says, in two or three sentences"})
	add(want.Topics, "topics", list("its main topics, the most important first, at most ten"))
	add(want.Entities, "entities", list("the people, organisations, products and places that it names"))
	add(want.Tags, "tags", list("short lower case labels under which one would file it, at most five"))
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required}) // it always marshals
	return Call{
		System: describePrompt, User: "<document name=\"" + fence(name) + "\">\n" + fence(sample(passages)) + "\n</document>",
		Tool: DescribeTool, Description: "Describe the document.", Schema: schema,
	}
}

// ReadDescription reads the arguments with which a model called the tool of Describe.
// It drops what was not asked for and what is too long.
func ReadDescription(arguments string, want knowledge.Enrichment) (Description, error) {
	var d Description
	if err := json.Unmarshal([]byte(arguments), &d); err != nil {
		return d, fmt.Errorf("read the description: %w", err)
	}
	d = Description{Summary: line(d.Summary, maxSummary), Topics: names(d.Topics), Entities: names(d.Entities), Tags: names(d.Tags)}
	if !want.Summary {
		d.Summary = ""
	}
	if !want.Topics {
		d.Topics = nil
	}
	if !want.Entities {
		d.Entities = nil
	}
	if !want.Tags {
		d.Tags = nil
	}
	return d, nil
}

// Place returns the call that writes one sentence for each of some passages.
func Place(name, about string, passages []string) Call {
	var user strings.Builder
	fmt.Fprintf(&user, "<document name=%q>\n%s\n</document>\n", fence(name), fence(about))
	for i, p := range passages {
		fmt.Fprintf(&user, "<passage number=\"%d\">\n%s\n</passage>\n", i+1, fence(p))
	}
	schema, _ := json.Marshal(map[string]any{ // it always marshals
		"type": "object", "required": []string{"sentences"},
		"properties": map[string]any{"sentences": map[string]any{
			"type": "array", "items": map[string]any{"type": "string"}, "minItems": len(passages), "maxItems": len(passages),
		}},
	})
	return Call{System: placePrompt, User: user.String(), Tool: "place_passages", Description: "One sentence for each passage.", Schema: schema}
}

// ReadSentences reads the arguments with which a model called the tool of Place. It
// fails unless there is a sentence for each of count passages.
func ReadSentences(arguments string, count int) ([]string, error) {
	var read struct {
		Sentences []string `json:"sentences"`
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the sentences: %w", err)
	}
	if len(read.Sentences) != count {
		return nil, fmt.Errorf("%d sentences for %d passages", len(read.Sentences), count)
	}
	for i, s := range read.Sentences {
		read.Sentences[i] = line(s, maxSentence)
	}
	return read.Sentences, nil
}

// ErrNoCall is the error of an answer that does not call the tool.
var ErrNoCall = errors.New("the model did not call the tool")

// sample returns the passages that fit into maxDescribed: all of them, or the first
// quarter of what fits and then passages at equal distances.
func sample(passages []string) string {
	total := 0
	for _, p := range passages {
		total += utf8.RuneCountInString(p) + 2
	}
	if total <= maxDescribed {
		return strings.Join(passages, "\n\n")
	}
	var kept []string
	room := maxDescribed
	take := func(p string) bool {
		room -= utf8.RuneCountInString(p) + 2
		if room < 0 {
			return false
		}
		kept = append(kept, p)
		return true
	}
	i := 0
	for i < len(passages) && room > maxDescribed*3/4 && take(passages[i]) {
		i++
	}
	step := max(1, (len(passages)-i)*total/len(passages)/max(room, 1))
	for ; i < len(passages) && take(passages[i]); i += step {
	}
	return strings.Join(kept, "\n\n")
}

// fence keeps a text from closing the tags around it.
func fence(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "</", "<\u200a/"), "\"", "'")
}

func names(list []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, name := range list {
		name = line(name, maxNameRunes)
		if key := strings.ToLower(name); name != "" && !seen[key] && len(kept) < maxNames {
			seen[key] = true
			kept = append(kept, name)
		}
	}
	return kept
}

// line returns a text on one line, without NULs and cut to a number of code points.
func line(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")), " ")
	if runes := []rune(s); len(runes) > most {
		s = strings.TrimSpace(string(runes[:most]))
	}
	return s
}
