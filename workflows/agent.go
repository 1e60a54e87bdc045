package workflows

import (
	"encoding/json"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// agentStepTime bounds the steps around the run of an agent, which only use Cairn's stores.
const agentStepTime = time.Minute

// AgentData is the data of a toolEvent that shows the progress of an agent's run.
type AgentData struct {
	RunID     string              `json:"runId"`
	ProjectID string              `json:"projectId,omitempty"`
	ID        string              `json:"id,omitempty"` // of a tool call of the run
	Name      string              `json:"name,omitempty"`
	Status    knowledge.RunStatus `json:"status,omitempty"`
	Found     *int                `json:"found,omitempty"`
}

// agent has another project answer a tool call, in a child workflow. A cancel of this
// workflow cancels it, and so does the end.
func (a *answer) agent(ctx workflow.Context, turn, i int, result answering.ModelCallResult) (output record.ToolOutput, err error) {
	in := answering.ToolCallInput{RunRef: a.in.RunRef, Turn: turn, Call: i, Key: result.Key}
	call := result.ToolCalls[i]
	var asked answering.AgentRun
	if err := execute(activityOptions(ctx, "prepare "+call.Name, agentStepTime, questionRetries()), a.acts.PrepareAgent, in, &asked); err != nil {
		return output, err
	}
	var child record.AnswerInput
	if err := json.Unmarshal(asked.Input, &child); err != nil {
		return output, temporal.NewNonRetryableApplicationError("the input of an agent is not JSON", string(knowledge.CodeInternal), err)
	}
	child.Caller = &record.Caller{Workflow: workflow.GetInfo(ctx).WorkflowExecution.ID, Run: a.in.Run, Turn: turn, Call: i, ID: call.ID}
	err = workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: knowledge.KindQuery.WorkflowID(asked.Workspace, asked.Run), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowTaskTimeout: pageTaskTimeout, WaitForCancellation: true, StaticSummary: "answer the question of another project",
		TypedSearchAttributes: temporal.NewSearchAttributes(workflow.GetTypedSearchAttributes(ctx).Copy(), KeyProject.ValueSet(asked.Project)),
	}), AnswerQuery, child).Get(ctx, nil)
	if ctx.Err() != nil {
		return output, ctx.Err()
	}
	if err != nil {
		workflow.GetLogger(ctx).Warn("an agent was ended from outside", "run", asked.Run, "error", err)
	}
	taken := answering.AgentAnswerInput{ToolCallInput: in, Agent: asked.RunRef}
	err = execute(activityOptions(ctx, "take the answer of "+call.Name, agentStepTime, questionRetries()), a.acts.TakeAgentAnswer, taken, &output)
	return output, err
}

// beginAsAgent puts a run that another one asks on record, and shows its start there.
func (a *answer) beginAsAgent(ctx workflow.Context) error {
	if a.in.Caller == nil {
		return nil
	}
	if !a.in.Caller.Quiet {
		a.caller = newRunLogWriter(ctx, a.in.Caller.Workflow, stream.ToolPublisher(a.in.Caller.Turn, a.in.Caller.Call), &a.in.Caller.Sequence)
	}
	if a.in.Carried != nil {
		return nil
	}
	in := answering.RecordAgentInput{RunRef: a.in.RunRef, Caller: a.in.Caller.Run}
	if err := localStep(ctx, "put the run on record", a.acts.RecordAgent, in, nil); err != nil {
		return fmt.Errorf("record run %s: %w", a.in.Run, err)
	}
	a.tellCaller(ctx, "started", AgentData{ProjectID: a.in.Project})
	return nil
}

// tellCaller shows progress of this run to the readers of the run that asks, if any.
func (a *answer) tellCaller(ctx workflow.Context, event string, data AgentData) {
	if a.in.Caller == nil || a.in.Caller.Quiet {
		return
	}
	data.RunID = a.in.Run
	shown := record.ToolEventData{ID: a.in.Caller.ID, Event: event, Data: stream.Data(data)}
	a.caller.publish(ctx, record.Entry(stream.TopicToolEvent, stream.Event{Data: stream.Data(shown)}))
}
