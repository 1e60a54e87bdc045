package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// renderer turns the items of one run's log into the events that its readers
// get. The blobs and passages that an item refers to are read with the reader's permission.
type renderer struct {
	*reading
	results *results
	text    strings.Builder // of the answer so far, where readers are given it
	links   *fileLinks      // nil = no call has produced a file
	outcome *outcome
}

// needs reports whether later events rest on this one, for a reader that has it.
func (r *renderer) needs(item stream.Item) bool {
	switch item.Topic {
	case stream.TopicDelta, stream.TopicReset:
		return !r.compact || r.links != nil
	case stream.TopicToolCall: // links to its files are signed in the words behind it
		e, err := stream.DecodeEvent(item.Data)
		var call record.ToolCallData
		return err == nil && json.Unmarshal(e.Data, &call) == nil && call.Files != "" && call.Status == knowledge.RunCompleted
	}
	return false
}

// event returns the name and the data of an item's event. Every item has one.
func (r *renderer) event(ctx context.Context, item stream.Item) (name string, data any, err error) {
	e, err := stream.DecodeEvent(item.Data)
	if err != nil {
		return "", nil, fmt.Errorf("item %d of run %s: %w", item.Offset, r.run.ID, err)
	}
	switch item.Topic {
	case stream.TopicStarted:
		return r.startEvent(e)
	case stream.TopicDelta:
		return r.deltaEvent(e)
	case stream.TopicReasoning:
		return r.reasoningEvent(e)
	case stream.TopicModelFailed:
		return r.modelFailed(e)
	case stream.TopicReset:
		return r.resetEvent(ctx, e)
	case stream.TopicToolCall:
		return r.toolCall(ctx, e)
	case stream.TopicToolEvent:
		return r.toolEvent(ctx, e)
	case stream.TopicSources:
		out, err := r.load(ctx, e.Ref)
		if err != nil {
			return "", nil, err
		}
		return "sendSourcesMessage", sourcesEvent{r.results.views.sources(r.principal, out), true}, nil
	case stream.TopicChosen:
		return r.chosenSources(ctx, e)
	case stream.TopicCompleted:
		answer, err := r.answer(ctx, e.Ref)
		return "completedMessage", answer, err
	case stream.TopicAttachment:
		return r.attachmentUpdate(ctx, e)
	case stream.TopicSearch:
		return r.searchChoices(ctx, e)
	case stream.TopicToolUpdate:
		data, err := r.toolUpdate(ctx, e)
		return "tool_update", data, err
	case stream.TopicToolEnd:
		result, err := r.toolResult(ctx, e.Ref)
		return "tool_end", result, err
	case stream.TopicDocument:
		document, err := r.document(ctx, e)
		return "documentUpdate", document, err
	case stream.TopicImport:
		i, err := r.importUpdate(ctx, e)
		return "importUpdate", i, err
	case stream.TopicEvaluation, stream.TopicGeneration:
		return item.Topic, e.Data, nil
	case stream.TopicResearch:
		return r.researchUpdate(ctx, e)
	case stream.TopicMessage:
		return r.userMessage(ctx, e)
	case stream.TopicEnded:
		return r.endEvent(ctx, item)
	default: // error
		return item.Topic, e.Data, nil
	}
}

func (r *renderer) startEvent(e stream.Event) (string, any, error) {
	var data record.StartedData
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "", nil, fmt.Errorf("first event of run %s: %w", r.run.ID, err)
	}
	return "runStarted", startedEvent{
		RunID: r.run.ID, MessageID: data.MessageID, ConversationID: data.ConversationID, OperatorURL: r.results.views.links.OperatorURL(r.run.WorkflowID),
	}, nil
}

func (r *renderer) deltaEvent(e stream.Event) (string, any, error) {
	if r.run.Kind == knowledge.KindTool {
		return "tool_partial_update", partialEvent{Content: e.Text, OutputKey: "response"}, nil
	}
	words := e.Text
	if r.links != nil {
		words = r.links.Write(words)
	}
	data := chunkEvent{Chunk: newWords{words}}
	if !r.compact {
		r.text.WriteString(words)
		data.Concatenated = &wordsSoFar{r.text.String()}
	}
	return "apiMessageChunk", data, nil
}

func (r *renderer) reasoningEvent(e stream.Event) (string, any, error) {
	var data record.ReasoningData
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return "", nil, fmt.Errorf("reasoning of run %s: %w", r.run.ID, err)
		}
	}
	return "reasoning", reasoningEvent{Delta: e.Text, Reset: data.Reset}, nil
}

// modelFailed names the endpoint only to those who may change it.
func (r *renderer) modelFailed(e stream.Event) (string, any, error) {
	var data record.ModelFailed
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "", nil, fmt.Errorf("failure of a model in run %s: %w", r.run.ID, err)
	}
	if !r.principal.May(knowledge.RunsAdmin) {
		data.Provider = ""
	}
	return "modelFailed", data, nil
}

// resetEvent drops the words so far. A tool's stream starts its generation once more.
func (r *renderer) resetEvent(ctx context.Context, e stream.Event) (string, any, error) {
	r.text.Reset()
	if r.links != nil {
		r.links.held = ""
	}
	if r.run.Kind == knowledge.KindTool {
		request, err := r.request(ctx)
		if err != nil || request.Web != nil {
			return "tool_update", webUpdate{Phase: record.PhaseGeneration, Status: "started"}, err
		}
		return "tool_update", record.PhaseData{Phase: "COMPILING_RESULTS", Status: "started"}, nil
	}
	return "messageReset", e.Data, nil
}

func (r *renderer) toolCall(ctx context.Context, e stream.Event) (string, any, error) {
	var data record.ToolCallData
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "", nil, fmt.Errorf("tool call of run %s: %w", r.run.ID, err)
	}
	var turn record.ModelCall
	if err := r.results.blobs.GetJSON(ctx, e.Ref, &turn); err != nil {
		return "", nil, fmt.Errorf("tool call of run %s: %w", r.run.ID, err)
	}
	given := ""
	if data.Call < len(turn.ToolCalls) {
		given = turn.ToolCalls[data.Call].Arguments
	}
	out := toolCallEvent{ID: data.ID, Name: data.Name, Arguments: arguments(given), Status: data.Status, Summary: summary(data)}
	if data.Status != record.CallStarted && data.Status != record.CallWaiting {
		out.Seconds = &data.Seconds
	}
	if data.Files != "" {
		var words record.ToolWords
		if err := r.results.blobs.GetJSON(ctx, data.Files, &words); err != nil {
			return "", nil, fmt.Errorf("output of a tool of run %s: %w", r.run.ID, err)
		}
		if out.Summary == "" {
			out.Summary = words.Reason
		}
		if len(words.Files) > 0 {
			out.Files = r.results.views.runFiles(r.principal, r.run, words.Files)
			if r.links == nil {
				r.links = r.results.views.fileLinks(r.principal, r.run)
			}
			r.links.expect(words.Files)
		}
	}
	return "toolCall", out, nil
}

// toolEvent is an event that a tool call showed.
func (r *renderer) toolEvent(ctx context.Context, e stream.Event) (string, any, error) {
	var shown record.ToolEventData
	if err := json.Unmarshal(e.Data, &shown); err != nil {
		return "", nil, fmt.Errorf("tool event of run %s: %w", r.run.ID, err)
	}
	out := toolEvent{ToolCallID: shown.ID, Event: shown.Event, Data: shown.Data}
	if e.Ref == "" {
		return "toolEvent", out, nil
	}
	if err := r.results.blobs.GetJSON(ctx, e.Ref, &out.Data); err != nil {
		return "", nil, fmt.Errorf("tool event of run %s: %w", r.run.ID, err)
	}
	return "toolEvent", out, nil
}

// searchChoices is what a search chose by itself.
func (r *renderer) searchChoices(ctx context.Context, e stream.Event) (string, any, error) {
	var search record.Search
	if e.Ref != "" { // earlier versions of Cairn did not store what a quick search chose
		if err := r.results.blobs.GetJSON(ctx, e.Ref, &search); err != nil {
			return "", nil, fmt.Errorf("search of run %s: %w", r.run.ID, err)
		}
	}
	if r.run.Kind == knowledge.KindTool {
		return "tool_update", preparedEvent{Phase: "SEARCH_PREPARATION", Status: "completed", Data: search.Choices}, nil
	}
	return "searchChoices", search.Choices, nil
}

// arguments shows what a model gave a tool: JSON as it is, else the text.
func arguments(given string) any {
	switch {
	case given == "":
		return map[string]any{}
	case json.Valid([]byte(given)):
		return json.RawMessage(given)
	}
	return given
}

func summary(data record.ToolCallData) string {
	switch {
	case data.Failure != "":
		return data.Failure
	case data.Found != nil && data.Name == tool.ListDocuments:
		return quantity(*data.Found, "document")
	case data.Found != nil && data.Name == knowledge.ToolWebSearch:
		return quantity(*data.Found, "page")
	case data.Found != nil:
		return quantity(*data.Found, "passage")
	default:
		return data.Summary
	}
}

// quantity returns a number of things in words.
func quantity(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// document returns the document with the state that the log has for it.
func (r *renderer) document(ctx context.Context, e stream.Event) (any, error) {
	var state record.DocumentState
	if err := json.Unmarshal(e.Data, &state); err != nil {
		return nil, fmt.Errorf("document event of run %s: %w", r.run.ID, err)
	}
	d, err := r.results.versionOfRun(ctx, r.principal, r.run)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return removedEvent{ID: r.run.Subject, Status: knowledge.StatusDeleting}, nil
	}
	if err != nil {
		return nil, err
	}
	d.Status, d.Error, d.Waiting = knowledge.StatusPending, nil, state.Waiting
	d.Stage, d.Progress = state.Stage, state.Progress
	d.ChunkCount, d.PageCount = state.ChunkCount, state.PageCount
	return documentEvent{r.results.views.document(d), orNull(state.At)}, nil
}

// endEvent is the last event of an ingest, a removal, an import or a reindex.
func (r *renderer) endEvent(ctx context.Context, item stream.Item) (string, any, error) {
	end, err := readEnd(r.run, item)
	if err != nil {
		return "", nil, err
	}
	out := endedEvent{Status: end.Status}
	switch {
	case end.Error != nil:
		out.Error = end.Error
		return "runEnded", out, nil
	case r.run.Kind == knowledge.KindRemove, r.run.Kind == knowledge.KindRemoveProject:
		out.Result = removedEvent{ID: r.run.Subject}
		return "runEnded", out, nil
	case r.run.Kind == knowledge.KindImport:
		out.Result, err = r.results.endedImport(ctx, r.principal, r.run)
		return "runEnded", out, err
	case r.run.Kind == knowledge.KindEvaluate:
		out.Result, err = r.results.endedEvaluation(ctx, r.principal, r.run)
		return "runEnded", out, err
	case r.run.Kind == knowledge.KindGenerate:
		out.Result, err = r.results.endedGeneration(ctx, r.principal, r.run)
		return "runEnded", out, err
	case r.run.Kind == knowledge.KindRetention:
		out.Result, err = r.results.endedRetention(ctx, r.principal, r.run)
		return "runEnded", out, err
	case r.run.Kind.Traits().Personal:
		out.Result, err = r.results.endedSubject(ctx, r.principal, r.run)
		return "runEnded", out, err
	case r.run.Kind == knowledge.KindReindex:
		out.Result, err = r.results.endedReindex(ctx, r.principal, r.run)
		return "runEnded", out, err
	}
	d, err := r.results.endedDocument(ctx, r.principal, r.run, item)
	switch {
	case err == nil:
		out.Result = r.results.views.document(d)
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		out.Result = removedEvent{ID: r.run.Subject}
	default:
		return "", nil, err
	}
	return "runEnded", out, nil
}
