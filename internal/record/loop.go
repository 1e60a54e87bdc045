package record

import (
	"cmp"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// Loop is the state of a question's tool loop: ids, keys of blobs and counts.
type Loop struct {
	Found       *Search         `json:"found,omitempty"`       // by the first search, if it is in no blob
	Asked       bool            `json:"asked,omitempty"`       // the webhooks of the question were asked
	Given       string          `json:"given,omitempty"`       // blob of the passages that a webhook gave
	Searches    []string        `json:"searches,omitempty"`    // blobs of the other searches, in order; ranks count over all of them
	Unshown     bool            `json:"unshown,omitempty"`     // passages were found that the log does not name yet
	Turns       []Turn          `json:"turns,omitempty"`       // turns that ended in tool calls
	Answer      string          `json:"answer,omitempty"`      // blob of the model call that returned the answer, if Record is nil
	Record      *ModelCall      `json:"record,omitempty"`      // of that model call
	Suggestions string          `json:"suggestions,omitempty"` // blob of the questions that may come next
	Usage       knowledge.Usage `json:"usage,omitzero"`

	Attachments []knowledge.AttachedDocument `json:"attachments,omitempty"` // of the question, when it had waited for them

	Prompted bool   `json:"prompted,omitempty"` // the steps before the prompt have run
	Stepped  string `json:"stepped,omitempty"`  // blob of the StepWords of these, if they decided something

	Steers  []Steer `json:"steers,omitempty"`   // what the person who asked added meanwhile
	GivenUp int     `json:"given_up,omitempty"` // model calls that ended for such a message
}

// Steer is a message of the person who asked, which came while the answer was under way.
type Steer struct {
	Key   string `json:"key"`             // blob of a SteerMessage
	Turns int    `json:"turns,omitempty"` // how many turns with tool calls come before it
}

// SteerMessage is the stored message of a Steer.
type SteerMessage struct {
	ID        string    `json:"id"` // of the message in the conversation
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// Turn is one model call that called tools, and the outputs of these.
type Turn struct {
	Key     string       `json:"key"`
	Outputs []ToolOutput `json:"outputs"`
}

// ModelCall is the stored result of a model call.
type ModelCall struct {
	Raw       string           `json:"raw"`              // the model's own words
	Text      string           `json:"text"`             // the words that readers see, with checked citations
	Marked    string           `json:"marked,omitempty"` // of a search of the web: the words as they stream, with marks for citations
	ToolCalls []model.ToolCall `json:"tool_calls,omitempty"`
	Used      []int            `json:"used,omitempty"`  // ranks that Text cites
	Order     []int            `json:"order,omitempty"` // of a report: the ranks in the order of the numbers that Text has for them; none = they are the numbers
	LeftOut   []int            `json:"left,omitempty"`  // ranks of passages that the model did not receive, because they were gone
	Model     string           `json:"model"`
	// FinishReason is why the model stopped early: length or content_filter; "" = it did not.
	FinishReason string          `json:"finish_reason,omitempty"`
	Usage        knowledge.Usage `json:"usage"`
}

// Streamed returns the words that readers get while they stream.
func (r ModelCall) Streamed() string { return cmp.Or(r.Marked, r.Text) }

// ToolOutput is the output of a tool: a search, words, or a failure in words for the
// model.
type ToolOutput struct {
	Search  string          `json:"search,omitempty"`
	Kept    int             `json:"kept,omitempty"`
	Words   string          `json:"words,omitempty"` // blob of a ToolWords
	Files   int             `json:"files,omitempty"` // in the ToolWords
	Summary string          `json:"summary,omitempty"`
	Failure string          `json:"failure,omitempty"` // with Words, the tool reports it in these
	Refused bool            `json:"refused,omitempty"` // by a person; Words says so
	Chosen  bool            `json:"chosen,omitempty"`  // the record of the search has Choices
	Usage   knowledge.Usage `json:"usage,omitzero"`    // of chat models that the tool asked
}

// The statuses of a tool call beside completed and failed.
const (
	CallWaiting knowledge.RunStatus = "waiting" // for a person who approves it
	CallStarted knowledge.RunStatus = "started"
	CallRefused knowledge.RunStatus = "refused"
)

// Status returns how the call ended.
func (o ToolOutput) Status() knowledge.RunStatus {
	switch {
	case o.Refused:
		return CallRefused
	case o.Failure != "":
		return knowledge.RunFailed
	}
	return knowledge.RunCompleted
}

// ToolWords are the stored words of a tool call.
type ToolWords struct {
	Words   string              `json:"words"`
	Summary string              `json:"summary,omitempty"`
	Failure string              `json:"failure,omitempty"`
	Reason  string              `json:"reason,omitempty"` // of the person who refused the call
	Files   []knowledge.RunFile `json:"files,omitempty"`
	Usage   knowledge.Usage     `json:"usage,omitzero"`
}

// Output returns the output of the call whose words are the blob under key.
func (w ToolWords) Output(key string) ToolOutput {
	return ToolOutput{Words: key, Summary: w.Summary, Failure: w.Failure, Files: len(w.Files), Usage: w.Usage}
}
