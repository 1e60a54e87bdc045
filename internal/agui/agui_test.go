package agui_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/agui"
)

// show returns the events of the protocol for a run, one a line: the type and what the
// test is about.
func show(t *testing.T, run string) string {
	t.Helper()
	translator := agui.New("r1")
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(run), "\n") {
		name, data, _ := strings.Cut(strings.TrimSpace(line), " ")
		events, err := translator.Events(name, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			out.WriteString(e.Type)
			for _, part := range []any{e.StepName, e.MessageID, e.ToolCallID, e.ToolCallName, e.ParentMessageID, e.Name, e.Delta, e.Content, e.Outcome, e.Code} {
				if text, err := json.Marshal(part); err != nil {
					t.Fatal(err)
				} else if s := string(text); s != `""` && s != "null" {
					out.WriteString(" " + strings.NewReplacer(`"`, "", `\`, "").Replace(s))
				}
			}
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// shownRuns are the events of runs, and the events of AG-UI that show them.
var shownRuns = map[string]struct{ run, want string }{
	"a question whose words came before a call of a tool": {
		run: `runStarted {"runId": "r1", "messageId": "m1", "conversationId": "c1"}
			apiMessageChunk {"chunk": {"data": "Let me look."}}
			messageReset {"attempt": 1, "reason": "tool_calls"}
			toolCall {"id": "a/b", "name": "documents_rag", "arguments": {"query": "pier"}, "status": "started", "summary": ""}
			toolEvent {"toolCallId": "a/b", "event": "progress", "data": {}}
			toolCall {"id": "a/b", "name": "documents_rag", "arguments": {"query": "pier"}, "status": "completed", "summary": "2 passages", "seconds": 1}
			apiMessageChunk {"chunk": {"data": "A lighthouse <citation id=\"x\">"}}
			apiMessageChunk {"chunk": {"data": "[1]</citation>."}}
			sendSourcesMessage {"sources": [{"rank": 1}]}
			completedMessage {"answer": "A lighthouse.", "sources": [], "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}`,
		want: `RUN_STARTED
			STATE_SNAPSHOT
			TEXT_MESSAGE_START m1
			TEXT_MESSAGE_CONTENT m1 Let me look.
			TEXT_MESSAGE_END m1
			CUSTOM messageReset
			TOOL_CALL_START a/b documents_rag m1
			TOOL_CALL_ARGS a/b {query: pier}
			TOOL_CALL_END a/b
			STATE_DELTA [{op:add,path:/toolCalls/a~1b,value:{name:documents_rag,status:started,summary:}}]
			CUSTOM toolEvent
			STATE_DELTA [{op:add,path:/toolCalls/a~1b,value:{name:documents_rag,status:completed,summary:2 passages}}]
			TOOL_CALL_RESULT a/b-result a/b {status:completed,summary:2 passages,seconds:1}
			TEXT_MESSAGE_START m1-2
			TEXT_MESSAGE_CONTENT m1-2 A lighthouse 
			TEXT_MESSAGE_CONTENT m1-2 [1].
			STATE_DELTA [{op:add,path:/sources,value:[{rank:1}]}]
			TEXT_MESSAGE_END m1-2
			STATE_DELTA [{op:add,path:/sources,value:[]}]
			STATE_DELTA [{op:add,path:/status,value:completed}]
			RUN_FINISHED {type:success}`,
	},
	"a call that a person refuses, and one with the same id in the next turn": {
		run: `toolCall {"id": "0", "name": "post", "arguments": "no JSON", "status": "waiting", "summary": ""}
			toolCall {"id": "0", "name": "post", "arguments": "no JSON", "status": "refused", "summary": "no"}
			toolCall {"id": "0", "name": "post", "arguments": {}, "status": "started", "summary": ""}
			error {"code": "canceled", "message": "canceled on request"}`,
		want: `RUN_STARTED
			STATE_SNAPSHOT
			TOOL_CALL_START 0 post
			TOOL_CALL_ARGS 0 no JSON
			TOOL_CALL_END 0
			STATE_DELTA [{op:add,path:/toolCalls/0,value:{name:post,status:waiting,summary:}}]
			STATE_DELTA [{op:add,path:/toolCalls/0,value:{name:post,status:refused,summary:no}}]
			TOOL_CALL_RESULT 0-result 0 {status:refused,summary:no,seconds:0}
			TOOL_CALL_START 0-2 post
			TOOL_CALL_ARGS 0-2 {}
			TOOL_CALL_END 0-2
			STATE_DELTA [{op:add,path:/toolCalls/0-2,value:{name:post,status:started,summary:}}]
			STATE_DELTA [{op:add,path:/status,value:canceled}]
			RUN_FINISHED {type:cancelled}`,
	},
	"a search of the web whose generation is repeated": {
		run: `tool_update {"phase": "WEB_SEARCH", "status": "started", "query": "pier"}
			tool_update {"phase": "WEB_SEARCH", "status": "completed", "data": {"results_count": 0}}
			tool_update {"phase": "GENERATION", "status": "started"}
			tool_partial_update {"content": "A ", "output_key": "response"}
			tool_update {"phase": "GENERATION", "status": "started"}
			tool_partial_update {"content": "The lighthouse <source_1>", "output_key": "response"}
			tool_end {"response": "The lighthouse", "sources": []}`,
		want: `RUN_STARTED
			STATE_SNAPSHOT
			STEP_STARTED WEB_SEARCH
			STATE_DELTA [{op:add,path:/phase,value:WEB_SEARCH},{op:add,path:/phases/WEB_SEARCH,value:{phase:WEB_SEARCH,status:started,query:pier}}]
			STEP_FINISHED WEB_SEARCH
			STATE_DELTA [{op:add,path:/phase,value:WEB_SEARCH},{op:add,path:/phases/WEB_SEARCH,value:{phase:WEB_SEARCH,status:completed,data:{results_count:0}}}]
			STEP_STARTED GENERATION
			STATE_DELTA [{op:add,path:/phase,value:GENERATION},{op:add,path:/phases/GENERATION,value:{phase:GENERATION,status:started}}]
			TEXT_MESSAGE_START r1-message
			TEXT_MESSAGE_CONTENT r1-message A 
			TEXT_MESSAGE_END r1-message
			CUSTOM messageReset
			STATE_DELTA [{op:add,path:/phase,value:GENERATION},{op:add,path:/phases/GENERATION,value:{phase:GENERATION,status:started}}]
			TEXT_MESSAGE_START r1-message-2
			TEXT_MESSAGE_CONTENT r1-message-2 The lighthouse [1]
			TEXT_MESSAGE_END r1-message-2
			STATE_DELTA [{op:add,path:/sources,value:[]}]
			STEP_FINISHED GENERATION
			STATE_DELTA [{op:add,path:/status,value:completed}]
			RUN_FINISHED {type:success}`,
	},
	"a document that fails": {
		run: `documentUpdate {"id": "d1", "stage": "extract"}
			documentUpdate {"id": "d1", "stage": "embed"}
			runEnded {"status": "failed", "error": {"code": "corrupt", "message": "not a PDF"}}`,
		want: `RUN_STARTED
			STATE_SNAPSHOT
			STEP_STARTED extract
			STATE_DELTA [{op:add,path:/phase,value:extract},{op:add,path:/document,value:{id:d1,stage:extract}}]
			STEP_FINISHED extract
			STEP_STARTED embed
			STATE_DELTA [{op:add,path:/phase,value:embed},{op:add,path:/document,value:{id:d1,stage:embed}}]
			STEP_FINISHED embed
			STATE_DELTA [{op:add,path:/status,value:failed}]
			RUN_ERROR corrupt`,
	},
	"a research": {
		run: `researchUpdate {"phase": "plan", "status": "started", "round": 1}
			researchUpdate {"phase": "plan", "status": "completed", "round": 1}
			researchUpdate {"phase": "search", "status": "started", "round": 1, "question": 2}
			researchUpdate {"phase": "notes", "status": "failed", "round": 1, "question": 2}
			completedMessage {"answer": "Report", "sources": []}`,
		want: `RUN_STARTED
			STATE_SNAPSHOT
			STEP_STARTED plan 1
			STATE_DELTA [{op:add,path:/phase,value:plan}]
			CUSTOM researchUpdate
			STEP_FINISHED plan 1
			STATE_DELTA [{op:add,path:/phase,value:plan}]
			CUSTOM researchUpdate
			STEP_STARTED search 1.2
			STATE_DELTA [{op:add,path:/phase,value:search}]
			CUSTOM researchUpdate
			STATE_DELTA [{op:add,path:/phase,value:notes}]
			CUSTOM researchUpdate
			TEXT_MESSAGE_START r1-message
			TEXT_MESSAGE_CONTENT r1-message Report
			TEXT_MESSAGE_END r1-message
			STATE_DELTA [{op:add,path:/sources,value:[]}]
			STEP_FINISHED search 1.2
			STATE_DELTA [{op:add,path:/status,value:completed}]
			RUN_FINISHED {type:success}`,
	},
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for name, c := range shownRuns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := strings.ReplaceAll(c.want, "\t", "") + "\n"
			if diff := cmp.Diff(want, show(t, c.run)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
