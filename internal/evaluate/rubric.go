package evaluate

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

//go:embed prompts/*.md
var prompts embed.FS

// rubricVersion is raised with each change of the prompts of a judge.
const rubricVersion = 1

// Rubric is the version of the prompts by which a model judges. Scores by different rubrics
// are not compared.
type Rubric struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"` // of the texts of the prompts
}

// CurrentRubric returns the rubric of this program.
func CurrentRubric() Rubric {
	hash := sha256.New()
	for _, part := range []Part{PartScore, PartContext, PartFaithfulness} {
		hash.Write([]byte(promptOf("judge_" + string(part))))
	}
	return Rubric{rubricVersion, hex.EncodeToString(hash.Sum(nil)[:8])}
}

// promptOf returns the text of a file of prompts.
func promptOf(name string) string {
	text, err := prompts.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic(err) // the file is embedded, and a test asks for each name
	}
	return string(text)
}

// Request is a question to the judging model. Its reply is read by Judgement.Take.
type Request struct {
	Part   Part   `json:"part"`
	System string `json:"system"`
	User   string `json:"user"`
}

// Limits of what a judge is given, in code points.
const (
	judgedPassages = 20
	judgedPassage  = 4_000
	judgedAnswer   = 20_000
)

// Requests returns what a model must be asked to judge a case, in the order score, context,
// faithfulness. An answer without a sentence that could be faithful, such as one that says that
// the documents have no answer, has no request for faithfulness; an item without a reference
// that is not unanswerable has no request for the score and the context.
func Requests(c Case) []Request {
	var out []Request
	add := func(part Part, user string) {
		out = append(out, Request{part, promptOf("judge_" + string(part)), user})
	}
	reference := c.Item.Reference
	if !c.Item.answerable() {
		reference = strings.TrimSpace("The documents do not contain an answer to this question. " + reference)
	}
	if c.judgesAnswer() {
		add(PartScore, tagged("question", c.Item.Question)+tagged("reference", reference)+
			tagged("answer", clip(PlainAnswer(c.Answer), judgedAnswer)))
	}
	if c.Item.answerable() && c.Item.Reference != "" {
		add(PartContext, tagged("question", c.Item.Question)+tagged("reference", reference)+numbered(c.Passages))
	}
	if sentences := judgedSentences(c); len(sentences) > 0 {
		add(PartFaithfulness, numbered(c.Passages)+listed(c, sentences))
	}
	return out
}

// judgedSentences returns the sentences of an answer that a model judges.
func judgedSentences(c Case) []said {
	if isRefusal(c.Item.Question, c.Answer) {
		return nil
	}
	return statedIn(c)
}

// numbered returns the passages with their numbers from 1.
func numbered(passages []Passage) string {
	var b strings.Builder
	for i, p := range passages[:min(len(passages), judgedPassages)] {
		about := strings.TrimSpace(p.Document + "\n" + p.Heading)
		fmt.Fprintf(&b, "<passage number=\"%d\">\n%s\n</passage>\n", i+1, fence(strings.TrimSpace(about+"\n"+clip(p.whole(), judgedPassage))))
	}
	if len(passages) == 0 {
		return "No passages were found.\n"
	}
	return b.String()
}

// listed returns the sentences with their numbers from 1 and those of the passages that they cite.
func listed(c Case, sentences []said) string {
	var b strings.Builder
	for i, s := range sentences {
		var cites []string
		for n, p := range c.Passages[:min(len(c.Passages), judgedPassages)] {
			if slices.Contains(s.cites, p.id()) {
				cites = append(cites, fmt.Sprint(n+1))
			}
		}
		fmt.Fprintf(&b, "<sentence number=\"%d\" cites=\"%s\">\n%s\n</sentence>\n", i+1, strings.Join(cites, " "), fence(s.text))
	}
	return b.String()
}

func tagged(name, text string) string {
	return "<" + name + ">\n" + fence(strings.TrimSpace(text)) + "\n</" + name + ">\n"
}

// fence keeps a text from closing the tags around it.
func fence(text string) string { return strings.ReplaceAll(text, "</", "<\u200a/") }

// clip returns at most count code points of a text, and says if it is not all.
func clip(text string, count int) string {
	if runes := []rune(text); len(runes) > count {
		return string(runes[:count]) + " …"
	}
	return text
}
