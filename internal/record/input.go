package record

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Caller is the tool call that asks a run as an agent. The progress of the run is shown as
// events of that call. A quiet caller is an evaluation, which has no calls and shows none.
type Caller struct {
	Workflow string `json:"workflow"` // with the log of the run that asks
	Run      string `json:"run"`
	Turn     int    `json:"turn"`
	Call     int    `json:"call"`
	ID       string `json:"id"`                 // of the call
	Sequence int64  `json:"sequence,omitempty"` // of the last event that was shown
	Quiet    bool   `json:"quiet,omitempty"`
}

// AnswerInput starts AnswerQuery or RunTool. The question itself is in the blob of
// the request.
type AnswerInput struct {
	knowledge.RunRef
	MessageID      string                   `json:"message_id,omitempty"`
	ConversationID string                   `json:"conversation_id,omitempty"`
	ExecutionID    string                   `json:"execution_id,omitempty"`
	SearchFirst    bool                     `json:"search_first"`          // the prompt has ${context}
	SlowSearch     bool                     `json:"slow_search,omitempty"` // a search asks a chat model or a reranker
	Webhooks       bool                     `json:"webhooks,omitempty"`    // webhooks are asked first
	MaxToolTurns   int                      `json:"max_tool_turns"`
	Overlong       bool                     `json:"overlong,omitempty"`    // the conversation is summed up first
	After          string                   `json:"after,omitempty"`       // the run of the same conversation that comes before, if it had not ended
	Suggest        bool                     `json:"suggest,omitempty"`     // questions that may come next
	Next           []string                 `json:"next,omitempty"`        // workflows that wait for the end of this one, over a continue-as-new
	ShowChosen     bool                     `json:"show_chosen,omitempty"` // the log names the passages before the words; false in runs of earlier versions
	Web            bool                     `json:"web,omitempty"`         // RunTool searches the web
	Attachments    []string                 `json:"attachments,omitempty"` // documents for whose ingestion the question waits
	Carried        *Loop                    `json:"carried,omitempty"`     // state over a continue-as-new
	Research       knowledge.ResearchConfig `json:"research,omitzero"`     // of a deep research
	Log            stream.Log               `json:"log,omitzero"`
	Segments       int                      `json:"segments,omitempty"`      // segments of the log in the blob store
	BeforePrompt   bool                     `json:"before_prompt,omitempty"` // steps of the project run before the first model call
	AfterAnswer    bool                     `json:"after_answer,omitempty"`  // steps of the project run after the answer
	Caller         *Caller                  `json:"caller,omitempty"`        // that asks the run as an agent
}

// NewAnswerInput returns the input of a run's workflow. It depends only on the run
// and its request.
func NewAnswerInput(run knowledge.RunRef, r knowledge.Request) AnswerInput {
	in := AnswerInput{
		RunRef: run, MessageID: r.MessageID, ConversationID: r.ConversationID, ExecutionID: r.ExecutionID,
		Webhooks: asksWebhooks(r), SearchFirst: SearchFirst(r), SlowSearch: r.Config.AI.AsksModel(r.FollowsUp()), MaxToolTurns: r.Config.Tools.MaxPerRequest, Suggest: r.Kind == knowledge.KindQuery && r.Config.AI.PostQuery.Suggestions,
		BeforePrompt: runsSteps(r, knowledge.PipelineBeforePrompt), AfterAnswer: runsSteps(r, knowledge.PipelineAfterAnswer),
		Web: r.Web != nil, Attachments: r.Attachments, Overlong: r.Overlong, ShowChosen: r.Kind == knowledge.KindQuery || r.Kind == knowledge.KindResearch,
	}
	if r.Kind == knowledge.KindResearch {
		in.Research, in.Web = r.Config.Tools.DeepResearch, r.Config.Tools.WebSearch != nil
	}
	return in
}

// asksWebhooks reports whether the workflow of a question begins with the webhooks.
func asksWebhooks(r knowledge.Request) bool { return len(r.Webhooks) > 0 }

// WordsNext reports whether the first event of a run is followed by the words of a model.
// Otherwise it is followed by events of a search, of webhooks or of a plan.
func (in AnswerInput) WordsNext(kind knowledge.RunKind) bool {
	return kind != knowledge.KindResearch && !in.Web && !in.Webhooks && !in.SlowSearch && !in.BeforePrompt
}

// QueryStarted returns the first entry of a question's log. The caller that starts
// the workflow may show it as soon as Temporal has acknowledged the start.
func QueryStarted(in AnswerInput) stream.Entry {
	return Entry(stream.TopicStarted, stream.Event{
		Data: stream.Data(StartedData{MessageID: in.MessageID, ConversationID: in.ConversationID}),
	})
}

// ToolStarted returns the first entry of a tool's log.
func ToolStarted(in AnswerInput) stream.Entry {
	if in.Web {
		return Entry(stream.TopicToolUpdate, stream.Event{
			Ref: in.RequestKey(), Data: stream.Data(WebUpdate{Phase: PhaseWebSearch, Status: "started"}),
		})
	}
	return Entry(stream.TopicToolUpdate, stream.Event{Data: stream.Data(PhaseData{Phase: "SEARCH_PREPARATION", Status: "started"})})
}

// Decision is what a person decided about a tool call. A refusal names the blob of the
// ToolWords that the model is told; an approval names none.
type Decision struct {
	Call    string `json:"call"` // its id
	Refusal string `json:"refusal,omitempty"`
}

// ResearchControl pauses a research, resumes it, or names a message of the person who
// asked.
type ResearchControl struct {
	Paused  *bool  `json:"paused,omitempty"`
	Message string `json:"message,omitempty"` // blob of an ResearchMessage
}

// AgentQuestion is what a tool call asks another project.
type AgentQuestion struct {
	Run     knowledge.RunRef  // of the answer
	Text    string            // the question
	Project string            // of the caller
	Caller  knowledge.Request // of the run that asks
}
