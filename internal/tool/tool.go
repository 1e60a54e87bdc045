// Package tool is what a chat model may call while it answers a question. A tool is a
// value: a name, a schema, its bounds, and a function. A new tool is a file here, and a
// line where it is wired.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Tool is something that a chat model may call.
type Tool struct {
	Name        string          // letters, digits, "_" and "-", at most 64
	Description string          // for the model
	Parameters  json.RawMessage // JSON schema of the arguments, an object
	// Limit bounds a call, which is not repeated after it; 0 = DefaultLimit for one
	// attempt, and the call is repeated.
	Limit time.Duration
	// Once means that a call has effects that must not happen twice. It is not repeated
	// after a failure, and after a crash in its middle the model is told that it may have
	// happened. The function gets an idempotency key for the service that it calls.
	Once bool
	// Offered reports whether the model may call the tool to answer a question; nil =
	// always.
	Offered func(knowledge.Request) bool
	// Run makes a call. It runs again after a crash, unless the tool is Once. A
	// *knowledge.Error is shown to the model, so that it can correct its call; it must
	// not repeat the arguments, which history must not hold.
	Run func(ctx context.Context, c Call) (Output, error)
	// Ask, in place of Run, makes a call a run of another project, in a child workflow. It
	// returns the question of that run. It returns errors like Run.
	Ask func(c Call) (Question, error)
}

// Question is what a call asks another project.
type Question struct {
	Project string // id
	Text    string
}

// DefaultLimit is the Limit of tools that have none.
const DefaultLimit = 2 * time.Minute

// Call is one call of a tool.
type Call struct {
	knowledge.RunRef

	Request   knowledge.Request // the question, with the principal for whom the tool reads
	Turn      int               // the model call that called, 1 = first
	Number    int               // among the calls of the turn, 0 = first
	Arguments string            // as the model wrote them

	// Events shows an event of the call to readers while it runs; nil = nobody reads.
	Events func(event string, data any)
}

// Show shows an event of the call to the readers of the run. data is encoded as JSON. It
// may hold words from outside, but not words of a document, which a later reader may no
// longer be allowed to read. A repeated call does not show again what was shown.
func (c Call) Show(event string, data any) {
	if c.Events != nil {
		c.Events(event, data)
	}
}

// IdempotencyKey is the same for every attempt of a call, and no other call has it.
func (c Call) IdempotencyKey() string { return fmt.Sprintf("%s-%d-%d", c.Run, c.Turn, c.Number) }

// Output is the result of a call: passages, or words.
type Output struct {
	// Search is the key of the blob that names the passages that were found. The model
	// gets their words, as long as the principal may read them, and may cite them.
	Search string
	Found  int  // passages in Search
	Chosen bool // the search has chosen something by itself
	// Words are for the model if there is no Search. They are stored with the run, so
	// they must not be words of a document.
	Words string
	// Summary says in a few words what came back, and Failure that the tool itself reports a
	// failure, which Words describe. They are shown to readers and stand in histories, so they
	// are words of Cairn's own, with states and sizes only.
	Summary string
	Failure string
	Files   []knowledge.RunFile // beside Words
	Usage   knowledge.Usage
}

// Size returns a number of bytes in words.
func Size(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/1000)
}

// Files stores the files that calls produce.
type Files interface {
	// Add stores a file of a call. Its name may differ from the wanted one, if that has
	// characters that no link has, or another file of the run has it. It is idempotent.
	Add(ctx context.Context, c Call, name string, content []byte) (knowledge.RunFile, error)
}

// FilePath is the path of the API that serves a file of a run.
func FilePath(run, name string) string { return "/runs/" + run + "/files/" + url.PathEscape(name) }

// MaxWords bounds the words of an output, in bytes. The model gets no more of a longer
// one.
const MaxWords = 64 << 10

// CutWords returns words within MaxWords, in UTF-8, with a note where they were cut.
func CutWords(words string) string {
	words = strings.ToValidUTF8(words, "\uFFFD")
	if len(words) <= MaxWords {
		return words
	}
	end := MaxWords
	for !utf8.RuneStart(words[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[The output has %d bytes; the rest is left out.]", words[:end], len(words))
}

// Source returns tools that depend on the question: on the settings of its project, or
// on what is attached to its conversation. Its names must not be names of other tools.
type Source func(ctx context.Context, r knowledge.Request) (Set, error)

// Set are tools with different names.
type Set []Tool

// Offered returns the tools that the model may call to answer a question.
func (s Set) Offered(r knowledge.Request) Set {
	return slices.DeleteFunc(slices.Clone(s), func(t Tool) bool { return t.Offered != nil && !t.Offered(r) })
}

// Find returns the tool of a name.
func (s Set) Find(name string) (Tool, bool) {
	i := slices.IndexFunc(s, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return s[i], true
}

// Names returns the names of the tools.
func (s Set) Names() []string {
	names := make([]string, 0, len(s))
	for _, t := range s {
		names = append(names, t.Name)
	}
	return names
}
