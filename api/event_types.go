package api

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/agui"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/sse"
	"github.com/cairn-rag/cairn/internal/view"
)

// The data of the events, where it is not a type of the answers or of workflows.
type (
	startedEvent struct {
		RunID          string `json:"runId"`
		MessageID      string `json:"messageId"`
		ConversationID string `json:"conversationId"`
		OperatorURL    string `json:"operatorUrl"`
	}
	chunkEvent struct {
		Concatenated *wordsSoFar `json:"concatenated,omitempty" doc:"Omitted with ?compact=true"`
		Chunk        newWords    `json:"chunk"`
	}
	reasoningEvent struct {
		Delta string `json:"delta" doc:"The next part of the reasoning"`
		Reset bool   `json:"reset,omitempty" doc:"true: drop the reasoning so far, because a repeated model call thinks differently"`
	}
	newWords struct {
		Data string `json:"data" doc:"The next part of the answer"`
	}
	wordsSoFar struct {
		Value string `json:"value" doc:"The text of the answer so far"`
	}
	toolCallEvent struct {
		ID        string              `json:"id"`
		Name      string              `json:"name"`
		Arguments any                 `json:"arguments" doc:"The JSON that the model wrote; a string if it is not valid JSON"`
		Status    knowledge.RunStatus `json:"status" enum:"waiting,started,completed,failed,refused" doc:"waiting: the call needs a decision (POST /runs/{id}/calls/{call})"`
		Summary   string              `json:"summary"`
		Seconds   *float64            `json:"seconds,omitempty" doc:"The duration of the call; absent until it has ended"`
		Files     []runFile           `json:"files,omitempty" doc:"Files that the call produced"`
	}
	toolEvent struct {
		ToolCallID string `json:"toolCallId"`
		Event      string `json:"event" doc:"The name of the event, as the tool sends it"`
		Data       any    `json:"data"`
	}
	sourcesEvent struct {
		Sources []source `json:"sources"`
		Final   bool     `json:"final" doc:"false before the answer: the passages that the model gets, none marked as used"`
	}
	preparedEvent struct { // a workflows.PhaseData whose data is in the blob of the search
		Phase  string           `json:"phase"`
		Status string           `json:"status"`
		Data   retrieve.Choices `json:"data"`
	}
	partialEvent struct {
		Content   string `json:"content" doc:"The next part of the response"`
		OutputKey string `json:"output_key" enum:"response"`
	}
	endedEvent struct {
		Status knowledge.RunStatus      `json:"status" enum:"completed,failed"`
		Error  *knowledge.DocumentError `json:"error,omitempty"`
		Result any                      `json:"result,omitempty"`
	}
	documentEvent struct {
		view.Document
		At *time.Time `json:"at,omitempty" doc:"When the stage or the wait began; absent in older events"`
	}
	removedEvent struct {
		ID     string           `json:"id"`
		Status knowledge.Status `json:"status,omitempty" enum:"deleting"`
	}
	aguiEvent  agui.Event // in the profile ag-ui, instead of all others
	errorEvent struct {
		_       struct{}       `additionalProperties:"true"`
		Code    knowledge.Code `json:"code"`
		Message string         `json:"message"`
		RetryAt *time.Time     `json:"retryAt,omitempty" doc:"With rate_limited: when the model accepts requests again"`
	}
)

// Which events the streams have, with the types of their data.
var (
	questionEvents = map[string][]reflect.Type{
		"runStarted": {reflect.TypeFor[startedEvent]()}, "apiMessageChunk": {reflect.TypeFor[chunkEvent]()}, "messageReset": {reflect.TypeFor[record.ResetData]()}, "reasoning": {reflect.TypeFor[reasoningEvent]()},
		"modelFailed": {reflect.TypeFor[record.ModelFailed]()}, "webhookCall": {reflect.TypeFor[record.WebhookCall]()}, "pipelineStep": {reflect.TypeFor[knowledge.StepRun]()}, "searchChoices": {reflect.TypeFor[retrieve.Choices]()}, "toolCall": {reflect.TypeFor[toolCallEvent]()}, "toolEvent": {reflect.TypeFor[toolEvent]()}, "sendSourcesMessage": {reflect.TypeFor[sourcesEvent]()}, "completedMessage": {reflect.TypeFor[queryAnswer]()},
		"attachmentUpdate": {reflect.TypeFor[attachmentView]()}, "researchUpdate": {reflect.TypeFor[researchEvent]()}, "userMessage": {reflect.TypeFor[messageEvent]()},
	}
	toolEvents = map[string][]reflect.Type{
		"tool_update": {reflect.TypeFor[record.PhaseData](), reflect.TypeFor[webUpdate]()}, "tool_partial_update": {reflect.TypeFor[partialEvent]()}, "tool_end": {reflect.TypeFor[toolAnswer](), reflect.TypeFor[webAnswer]()},
	}
	documentEvents = map[string][]reflect.Type{
		"documentUpdate": {reflect.TypeFor[documentEvent](), reflect.TypeFor[removedEvent]()}, "pipelineStep": {reflect.TypeFor[knowledge.StepRun]()}, "runEnded": {reflect.TypeFor[endedEvent]()},
	}
	importEvents = map[string][]reflect.Type{
		"importUpdate": {reflect.TypeFor[Import]()},
	}
	evaluationEvents = map[string][]reflect.Type{
		"evaluationUpdate": {reflect.TypeFor[knowledge.EvaluationProgress]()}, "generationUpdate": {reflect.TypeFor[knowledge.GenerationProgress]()},
	}
	everyRunsEvents = map[string][]reflect.Type{
		"error": {reflect.TypeFor[errorEvent]()}, "_delta_sse": {reflect.TypeFor[sse.Piece]()},
		// An event of AG-UI has no name on the wire, and "message" is the name of such an event.
		"message": {reflect.TypeFor[aguiEvent]()},
	}
)

// eventStream describes a stream by the schema of one of its events, whose data is
// JSON text with a schema of its own.
func eventStream(registry huma.Registry, events ...map[string][]reflect.Type) *huma.MediaType {
	text := func(extensions map[string]any) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Extensions: extensions}
	}
	event := &huma.Schema{Type: huma.TypeObject, Description: "Server-sent events. This is the schema of one of them", Required: []string{"event", "data"}}
	for _, group := range append(events, everyRunsEvents) {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			event.OneOf = append(event.OneOf, &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Enum: []any{name}},
				"data":  text(map[string]any{"contentMediaType": "application/json", "contentSchema": eventData(registry, group[name])}),
			}})
		}
	}
	return &huma.MediaType{Schema: event}
}

// eventData returns the schema of an event's data.
func eventData(registry huma.Registry, types []reflect.Type) *huma.Schema {
	var choices []*huma.Schema
	for _, t := range types {
		choices = append(choices, registry.Schema(t, true, t.Name()))
	}
	if len(choices) == 1 {
		return choices[0]
	}
	return &huma.Schema{OneOf: choices}
}
