package prompt

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
)

// Default is the system prompt of a project that has none of its own.
//
//go:embed system.md
var Default string

// Web is the system prompt of a search of the web.
//
//go:embed web.md
var Web string

// rules stand around the prompt of a project.
//
//go:embed rules.md
var rules string

const (
	contextVariable = "${context}"
	dateVariable    = "${date}"
	promptVariable  = "${prompt}"
)

// WithRules returns a project's own system prompt between the rules that Default and Web hold
// too: how passages are cited, and that their instructions are not followed.
func WithRules(template string) string {
	return strings.TrimSpace(strings.Replace(rules, promptVariable, template, 1))
}

// WantsContext reports whether a system prompt has a place for passages, so
// that a search comes before the first model call.
func WantsContext(template string) bool {
	return strings.Contains(orDefault(template), contextVariable)
}

// WithContext returns a system prompt that has a place for passages: at its end,
// where it has none of its own.
func WithContext(template string) string {
	if WantsContext(template) {
		return template
	}
	return template + "\n\n" + contextVariable
}

// searchOffer is the part of Default that offers documents_rag.
const searchOffer = "; you may call documents_rag to look for other passages first"

// WithoutSearch returns a system prompt that does not offer documents_rag.
func WithoutSearch(template string) string {
	return strings.Replace(orDefault(template), searchOffer, "", 1)
}

// System fills a system prompt; an empty template means Default.
func System(template string, passages []citation.Context, date time.Time) string {
	// One pass over the template: what a passage says is never filled in again.
	return strings.NewReplacer(
		contextVariable, Sources(passages),
		dateVariable, date.Format("Monday, 2 January 2006"),
	).Replace(orDefault(template))
}

// Sources fences passages, each under its rank.
func Sources(passages []citation.Context) string {
	if len(passages) == 0 {
		return "No passage was found."
	}
	var b strings.Builder
	for _, p := range passages {
		name := `document="` + attribute(p.DocumentName) + `"`
		if p.URL != "" {
			name = `document="` + attribute(p.Title) + `" url="` + attribute(p.URL) + `"`
		}
		fmt.Fprintf(&b, "<source_%d %s>\n%s\n</source_%d>\n", p.Rank, name, fence(p.Text), p.Rank)
	}
	return b.String()
}

func orDefault(template string) string {
	if template == "" {
		return Default
	}
	return template
}

// fence keeps a passage from closing its fence, or opening another.
func fence(text string) string {
	return sourceTag.ReplaceAllString(text, "$1\u200b$2")
}

// sourceTag is how a fence begins and ends, in any case, as marks are read too.
var sourceTag = regexp.MustCompile(`(?i)(</?)(source_)`)

// attribute writes a name as the value of an attribute, on one line.
func attribute(name string) string { return attributeWords.Replace(name) }

var attributeWords = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", " ", "\r", " ")
