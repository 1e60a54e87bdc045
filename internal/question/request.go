package question

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MaxLength bounds a question, in code points.
const MaxLength = 32_000

// Request is a question as its door read it.
type Request struct {
	Kind       knowledge.RunKind     // knowledge.KindQuery, knowledge.KindTool or knowledge.KindResearch
	Web        *knowledge.WebRequest // of a KindTool that searches the web; nil = it searches documents
	Text       string
	TextField  string           // where the door's request has the text, for errors: "body.text"
	Project    string           // id or name; "" = the one that the principal is held to, else every project that it covers
	Documents  []string         // search only these; empty = all
	Filter     knowledge.Filter // search only what it matches
	Tags       []string         // search only documents with one of these; empty = all
	ToolChoice string           // "", "auto", "none", "required" or the name of a tool, which may stand in ToolField
	ToolField  string           // where the door's request has a choice of tools, for errors
	Form       knowledge.AnswerForm
	FormField  string          // where the door's request has the format of Form, for errors
	Override   json.RawMessage // any part of a knowledge.ProjectConfig, for this question alone; nil = none
	// Converse makes the run keep its question and answer in Conversation, or in a
	// new conversation if that is empty.
	Converse     bool
	Conversation string
	// Attachments come with the question, at most knowledge.MaxAttachments.
	Attachments []Attachment
	// History is the conversation before the question, oldest first, of a caller that
	// keeps it itself. Messages of the role system are instructions, which the limits of
	// the history do not shorten. It is ignored if Conversation is set.
	History []knowledge.Message
	// Callback is told how the run ended; nil = nobody.
	Callback *knowledge.Callback
	// Passed is for the queries webhook of the project.
	Passed knowledge.Passed
	// Door is what the door needs to show the run again, as JSON. It is kept with the run.
	Door        json.RawMessage
	Idempotency idempotency.Request
}

func (r Request) check() error {
	if err := CheckText(r.TextField, r.Text); err != nil {
		return err
	}
	if err := r.checkAttachments(); err != nil {
		return err
	}
	if wrong := r.Passed.Fields("body"); wrong != nil {
		return knowledge.InvalidFields(wrong)
	}
	return knowledge.InvalidFields(append(knowledge.TagFields("body.tags", r.Tags), r.Filter.Fields("body.filters")...))
}

// CheckText returns what is wrong with the text of a question, which stands at
// location in the request.
func CheckText(location, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return knowledge.Invalid(location, "must not be empty")
	case utf8.RuneCountInString(text) > MaxLength:
		return knowledge.Invalid(location, "must have at most %d characters", MaxLength)
	case strings.ContainsRune(text, 0):
		return knowledge.Invalid(location, "must not have a NUL")
	}
	return nil
}

// title returns the first line of a question, cut to 80 code points.
func title(text string) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return line
}

// checkSteps refuses a research, and a search of the web, in a project that requires steps
// before the prompt or after the answer: neither runs any.
func (r Request) checkSteps(steps knowledge.Pipeline) error {
	if r.Kind != knowledge.KindResearch && r.Web == nil {
		return nil
	}
	for _, s := range steps {
		if s.Required && (s.At == knowledge.PipelineBeforePrompt || s.At == knowledge.PipelineAfterAnswer) {
			return knowledge.Errorf(knowledge.CodeConflict, "the project requires a step of its pipeline at %s, which a research and a search of the web do not run: ask a question", s.At)
		}
	}
	return nil
}
