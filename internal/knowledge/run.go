package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// RunKind says what a run does. A run is one row in SQL; it maps to a workflow
// and a log.
type RunKind string

// The kinds of runs. RunKinds holds what differs between them.
const (
	KindQuery    RunKind = "query"    // answers a question
	KindTool     RunKind = "tool"     // answers a question by one tool, as a contract of its own
	KindResearch RunKind = "research" // answers a question with a report, after many searches
	KindIngest   RunKind = "ingest"   // ingests one version of a document
	KindRemove   RunKind = "remove"   // removes a document
	KindImport   RunKind = "import"   // imports the objects of a source
	KindReindex  RunKind = "reindex"  // makes new versions of the outdated documents of a project

	KindRemoveProject RunKind = "remove_project" // removes a project with everything in it

	KindEvaluate  RunKind = "evaluate"  // answers the questions of a test set, and judges the answers
	KindRetention RunKind = "retention" // removes what the projects of a workspace keep no longer
	KindGenerate  RunKind = "generate"  // makes a test set of documents by a chat model
	KindExport    RunKind = "export"    // exports what a person left
	KindErase     RunKind = "erase"     // erases what a person left
)

// RunStatus says where a run stands.
type RunStatus string

// The statuses of a run. The last three are final.
const (
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
	RunFailed    RunStatus = "failed"
	RunCanceled  RunStatus = "canceled"
)

// KindTraits is what differs between the kinds of runs for those who start,
// show, sweep and end them.
type KindTraits struct {
	Kind RunKind
	// Workflow is the name of the workflow type.
	Workflow string
	// Answers: the run ends in an answer, which only its owner and administrators
	// read. Otherwise it changes documents, or evaluates a project: whoever manages them
	// reads it, and the sweep starts it again by rows in SQL.
	Answers bool
	// SharesWorkflow: one workflow serves several runs, one after the other, so
	// each run has its own first offset in the workflow's log and is canceled by a
	// signal to that workflow.
	SharesWorkflow bool
	// ReusesID: the workflow of a later run on the same subject has the same id, so a
	// closed workflow of that id says nothing about a run.
	ReusesID bool
	// Personal: it concerns what a person left. Only its owner and administrators read its
	// result.
	Personal bool
	// Cancelable: a user may cancel it.
	Cancelable bool
	// OwnLog: a RunLog workflow beside the run's workflow holds the log.
	OwnLog bool
}

// RunKinds returns the table of run kinds.
func RunKinds() []KindTraits {
	return []KindTraits{
		{Kind: KindQuery, Workflow: "AnswerQuery", Answers: true, Cancelable: true},
		{Kind: KindTool, Workflow: "RunTool", Answers: true, Cancelable: true},
		{Kind: KindResearch, Workflow: "DeepResearch", Answers: true, Cancelable: true, OwnLog: true},
		{Kind: KindIngest, Workflow: "IngestDocument", SharesWorkflow: true, ReusesID: true, Cancelable: true},
		{Kind: KindRemove, Workflow: "RemoveDocument"},
		{Kind: KindImport, Workflow: "BulkImport", Cancelable: true},
		{Kind: KindReindex, Workflow: "ReindexProject", ReusesID: true, Cancelable: true},
		{Kind: KindRemoveProject, Workflow: "RemoveProject", ReusesID: true},
		{Kind: KindEvaluate, Workflow: "EvaluateProject", Cancelable: true},
		{Kind: KindRetention, Workflow: "ApplyRetention", ReusesID: true},
		{Kind: KindGenerate, Workflow: "GenerateTestSet", Cancelable: true},
		{Kind: KindExport, Workflow: "ExportSubject", Personal: true},
		{Kind: KindErase, Workflow: "EraseSubject", Personal: true},
	}
}

// Traits returns the row of the kind in RunKinds, the zero row for an unknown one.
func (k RunKind) Traits() KindTraits {
	for _, t := range RunKinds() {
		if t.Kind == k {
			return t
		}
	}
	return KindTraits{Kind: k}
}

// KindsThat returns the kinds whose row satisfies the condition.
func KindsThat(satisfy func(KindTraits) bool) []RunKind {
	var kinds []RunKind
	for _, t := range RunKinds() {
		if satisfy(t) {
			kinds = append(kinds, t.Kind)
		}
	}
	return kinds
}

// AnswerKinds returns the kinds of runs that end in an answer.
func AnswerKinds() []RunKind { return KindsThat(func(t KindTraits) bool { return t.Answers }) }

// DocumentKinds returns the kinds of runs that change documents, or evaluate a project.
func DocumentKinds() []RunKind { return KindsThat(func(t KindTraits) bool { return !t.Answers }) }

// WorkflowID returns the id of the workflow of a run of this kind. It holds the run's
// log too, unless the kind has OwnLog. subject is the run's id if the run ends in an
// answer, else the id of the document, of the import or of the project.
func (k RunKind) WorkflowID(workspace, subject string) string {
	return string(k) + "/" + workspace + "/" + subject
}

// RunRef names a run. Project may be empty.
type RunRef struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Run       string `json:"run"`
}

// LogWorkflowID returns the id of the RunLog workflow of a run whose kind has OwnLog.
func (r RunRef) LogWorkflowID() string { return "log/" + r.Workspace + "/" + r.Run }

// RequestKey is the blob key of a question's Request.
func (r RunRef) RequestKey() string { return r.key("request.json") }

// AnswerKey is the blob key of a question's answer.
func (r RunRef) AnswerKey() string { return r.key("answer.json") }

// LogKey is the blob key of the whole log of a run that has ended.
func (r RunRef) LogKey() string { return r.key("log.json") }

// SegmentKey is the blob key of a part of a running run's log that left the
// workflow's memory, 0 = first.
func (r RunRef) SegmentKey(number int) string { return r.key(fmt.Sprintf("log-%06d.json", number)) }

// TurnKey is the blob key of the result of a model call, 1 = first.
func (r RunRef) TurnKey(turn int) string { return r.key(fmt.Sprintf("turn-%d.json", turn)) }

// WebhooksKey is the blob key of what the webhooks of a question answered.
func (r RunRef) WebhooksKey() string { return r.key("webhooks.json") }

// StepKey is the blob key of what the steps of the project made of a question.
func (r RunRef) StepKey(name string) string { return r.key("step-" + name + ".json") }

// FirstSearchKey is the blob key of the search that came before the first model
// call.
func (r RunRef) FirstSearchKey() string { return r.key("search-0.json") }

// SearchKey is the blob key of the search that a tool call made, 0 = the first
// call of the turn.
func (r RunRef) SearchKey(turn, call int) string {
	return r.key(fmt.Sprintf("search-%d-%d.json", turn, call))
}

// WordsKey is the blob key of what a tool call said, 0 = the first call of the turn.
func (r RunRef) WordsKey(turn, call int) string {
	return r.key(fmt.Sprintf("tool-%d-%d.json", turn, call))
}

// AgentRun returns the run of the agent that a tool call asks, in its project. Every
// attempt of the call has the same.
func (r RunRef) AgentRun(project string, turn, call int) RunRef {
	return RunRef{Workspace: r.Workspace, Project: project, Run: DerivedID("agent", r.Run, strconv.Itoa(turn), strconv.Itoa(call))}
}

// BegunKey is the blob key that says that a tool call which must not be repeated has
// begun.
func (r RunRef) BegunKey(turn, call int) string {
	return r.key(fmt.Sprintf("tool-%d-%d-begun.json", turn, call))
}

// ToolEventKey is the blob key of the data of an event that a tool call showed, 1 = its
// first.
func (r RunRef) ToolEventKey(turn, call, number int) string {
	return r.key(fmt.Sprintf("tool-%d-%d-event-%d.json", turn, call, number))
}

// FileKey is the blob key of a file that a tool call produced, by the SHA-256 hash of
// its content.
func (r RunRef) FileKey(hash string) string { return r.key("files/" + hash) }

// FileNameKey is the blob key of the RunFile of a name.
func (r RunRef) FileNameKey(name string) string {
	hash := sha256.Sum256([]byte(name)) // a name may have characters that keys do not
	return r.key("file-" + hex.EncodeToString(hash[:]) + ".json")
}

// SuggestionsKey is the blob key of the questions that may come next.
func (r RunRef) SuggestionsKey() string { return r.key("suggestions.json") }

// RefusalKey is the blob key of what the model is told about the refusal of a call.
func (r RunRef) RefusalKey(id string) string { return r.key("refusal-" + id + ".json") }

// SteerKey is the blob key of a message that its person sent while the answer was under way.
func (r RunRef) SteerKey(id string) string { return r.key("message-" + id + ".json") }

// FoldersPrefix is the prefix of the blobs that FolderKey names.
func (r RunRef) FoldersPrefix() string { return r.key("folder/") }

// FolderKey is the blob key of what a tool call changed in the working folder of the run.
// The keys sort in the order of the calls.
func (r RunRef) FolderKey(turn, call int) string {
	return r.FoldersPrefix() + fmt.Sprintf("%06d-%06d.json", turn, call)
}

// WebKey is the blob key of a step of a search of the web that a tool call made; turn 0 is
// the turn of a run that is nothing but the search.
func (r RunRef) WebKey(step string, turn, call int) string {
	return r.key(fmt.Sprintf("web-%s-%d-%d.json", step, turn, call))
}

// Prefix is the prefix of the blobs of the run.
func (r RunRef) Prefix() string { return r.Workspace + "/runs/" + r.Run + "/" }

func (r RunRef) key(name string) string { return r.Prefix() + name }

// RunFile is a file that a tool call produced. It belongs to the run, under its name.
type RunFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Bytes     int64  `json:"bytes"`
	Key       string `json:"key"` // blob of the content
}

// Failure says to a client why a run, or a step of one, failed.
type Failure struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"-"` // trying the whole step again later can help
	Stage     Stage  `json:"-"` // of ingestion; "" where the failure does not say
	// RetryAt is when a provider that limits requests takes the next one; zero = it did not say.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Detail is what the endpoint of a model said, for operators: only keys with the scope admin
	// are shown it.
	Detail string `json:"detail,omitempty"`
}

// AsError returns the failure as an error, with the wait from now on.
func (f Failure) AsError(now time.Time) *Error {
	e := Errorf(f.Code, "%s", f.Message)
	if !f.RetryAt.IsZero() {
		e.RetryAfter = max(f.RetryAt.Sub(now), 0)
	}
	return e
}

// Request is the snapshot with which a question starts: who asks, the question,
// and the configuration of that moment. The caller writes it to the blob store
// before it starts the workflow. It never enters a workflow's history.
type Request struct {
	Principal      Principal     `json:"principal"`
	Kind           RunKind       `json:"kind"`          // KindQuery, KindTool or KindResearch
	Web            *WebRequest   `json:"web,omitempty"` // of a KindTool that searches the web; nil = it searches documents
	Question       string        `json:"question"`
	Projects       []string      `json:"projects,omitempty"`
	Documents      []string      `json:"documents,omitempty"`
	Filter         Filter        `json:"filter,omitempty"`
	Scope          Filter        `json:"scope,omitempty"` // of the project, not for what is attached to the conversation
	Config         ProjectConfig `json:"config"`          // with defaults
	History        []Message     `json:"history,omitempty"`
	Overlong       bool          `json:"overlong,omitempty"` // the conversation has more than fits into History, and is summed up first
	Passed         Passed        `json:"passed,omitzero"`
	Webhooks       []string      `json:"webhooks,omitempty"`    // ids of the project's webhooks of type queries
	ToolChoice     string        `json:"tool_choice,omitempty"` // auto, none, required or the name of a tool; "" = auto
	Form           AnswerForm    `json:"form,omitzero"`
	ConversationID string        `json:"conversation_id,omitempty"`
	QuestionID     string        `json:"question_id,omitempty"` // of the user's message
	MessageID      string        `json:"message_id,omitempty"`  // of the answer
	ExecutionID    string        `json:"execution_id,omitempty"`
	Date           time.Time     `json:"date"`

	Attachments []string `json:"attachments,omitempty"` // ids of the documents that came with the question, or that it names
	// Callers are the projects whose runs led to this one as an agent, the first asker
	// first; none = a person asks.
	Callers []string `json:"callers,omitempty"`
	// AgentDepth is how many agents deep the run may still ask.
	AgentDepth int `json:"agent_depth,omitempty"`

	// Door is what the API by which the question came needs to show its run again.
	Door json.RawMessage `json:"door,omitempty"`
}

// AnswerForm is what the asker of a question chooses of its answer, beside the configuration.
type AnswerForm struct {
	TopP *float64 `json:"top_p,omitempty"`
	// Stop are texts at the first of which the model stops.
	Stop []string `json:"stop,omitempty"`
	// Format is the response_format of OpenAI for an answer in JSON; nil = text.
	Format json.RawMessage `json:"format,omitempty"`
}

// IsZero reports whether nothing was chosen.
func (f AnswerForm) IsZero() bool { return f.TopP == nil && len(f.Stop) == 0 && !f.IsJSON() }

// IsJSON reports whether the answer is JSON.
func (f AnswerForm) IsJSON() bool { return len(f.Format) > 0 }

// AgentDepth is the AgentDepth of a run that a person starts.
const AgentDepth = 3

// Usage counts the calls of models of a run, and their tokens where the endpoint says how
// many. Calls of chat models and their tokens are apart from calls of embeddings and of
// rerankers.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	ModelCalls       int `json:"model_calls"`
	EmbeddingCalls   int `json:"embedding_calls,omitempty"`
	EmbeddingTokens  int `json:"embedding_tokens,omitempty"`
	RerankCalls      int `json:"rerank_calls,omitempty"`
	RerankTokens     int `json:"rerank_tokens,omitempty"`
	// Cost is the price of the tokens when they were used, as far as it was known.
	Cost     float64 `json:"cost,omitempty" doc:"The price of the tokens when they were used, of the models that have one in models.prices"`
	Currency string  `json:"currency,omitempty" doc:"Of the cost"`
}

// Tokens is how many tokens of models were used.
func (u Usage) Tokens() int {
	return u.PromptTokens + u.CompletionTokens + u.EmbeddingTokens + u.RerankTokens
}

// Add adds o to u. A cost in another currency is left out.
func (u *Usage) Add(o Usage) {
	if u.Currency == "" {
		u.Currency = o.Currency
	}
	if u.Currency == o.Currency {
		u.Cost = roundCost(u.Cost + o.Cost)
	}
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.ModelCalls += o.ModelCalls
	u.EmbeddingCalls += o.EmbeddingCalls
	u.EmbeddingTokens += o.EmbeddingTokens
	u.RerankCalls += o.RerankCalls
	u.RerankTokens += o.RerankTokens
}

// roundCost rounds a cost to billionths, so that sums do not show how numbers are stored.
func roundCost(cost float64) float64 { return math.Round(1e9*cost) / 1e9 }

// Decode reads a RunUsage as JSON, without its model; empty is none.
func (u *Usage) Decode(stored json.RawMessage) error {
	if len(stored) == 0 {
		return nil
	}
	return json.Unmarshal(stored, u)
}

// RunUsage is what a run has used of models, as it is stored when the run ends.
type RunUsage struct {
	Usage
	Model   string  `json:"model,omitempty"`   // that gave the answer, or embedded the document; "" = there is none
	Seconds float64 `json:"seconds,omitempty"` // of an answer: from the question to the end
}

// Encode returns u as JSON, nil if no model was asked.
func (u RunUsage) Encode() json.RawMessage {
	if u.Usage == (Usage{}) {
		return nil
	}
	data, err := json.Marshal(u)
	if err != nil {
		panic(err) // numbers and a name always marshal
	}
	return data
}

// DayUsage is what the runs of a project used that began on a day and name a model.
type DayUsage struct {
	Day  string `json:"day"` // 2006-01-02, in UTC
	Runs int    `json:"runs"`
	// Questions and Documents are what the runs answered and published.
	Questions int `json:"questions"`
	Documents int `json:"documents"`
	RunUsage
}

// AddRuns adds the runs of o, whatever their day and model, and what they used.
func (u *DayUsage) AddRuns(o DayUsage) {
	u.Runs += o.Runs
	u.Questions += o.Questions
	u.Documents += o.Documents
	u.Add(o.Usage)
	u.Seconds = math.Round(1000*(u.Seconds+o.Seconds)) / 1000
}

// Message is an earlier message of a conversation.
type Message struct {
	Role    string `json:"role"` // user or assistant
	Content string `json:"content"`
}

// FollowsUp reports whether messages of a conversation stand before the question, beside
// instructions.
func (r Request) FollowsUp() bool { return FollowsUp(r.History) }

// FollowsUp reports whether there are messages of a user or an assistant.
func FollowsUp(history []Message) bool {
	return slices.ContainsFunc(history, func(m Message) bool { return m.Role == "user" || m.Role == "assistant" })
}
