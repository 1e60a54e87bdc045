package answering

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// Agents makes the runs of projects that other projects ask. Every method is idempotent.
type Agents interface {
	// PrepareAgent stores the request of a run, and returns the input of its workflow. A
	// project that the principal may not use is knowledge.CodeNotFound.
	PrepareAgent(ctx context.Context, q record.AgentQuestion) (input json.RawMessage, err error)
	// RecordAgent puts a prepared run on record. caller is the run that asks.
	RecordAgent(ctx context.Context, run knowledge.RunRef, caller string) error
}

// AskingAgents holds the activities with which a question asks another project.
type AskingAgents struct {
	stepLog

	Agents  Agents
	Blobs   step.Blobs
	Runs    step.RunEnds
	calling *CallingTools
}

// AgentRun is a prepared run of an agent. Input is the input of its workflow.
type AgentRun struct {
	knowledge.RunRef
	Input json.RawMessage `json:"input"`
}

// PrepareAgent checks a tool call that asks another project, and prepares the run of that.
func (a *AskingAgents) PrepareAgent(ctx context.Context, in ToolCallInput) (AgentRun, error) {
	defer step.Heartbeat(ctx)()
	run, err := a.prepareAgent(ctx, in)
	if err != nil {
		return run, a.fail(ctx, in.RunRef, err)
	}
	return run, nil
}

func (a *AskingAgents) prepareAgent(ctx context.Context, in ToolCallInput) (AgentRun, error) {
	called, c, err := a.calling.checkCall(ctx, in)
	if err != nil {
		return AgentRun{}, err
	}
	if called.Ask == nil || a.Agents == nil {
		return AgentRun{}, fmt.Errorf("the tool %s asks no project", called.Name)
	}
	question, err := called.Ask(c)
	if err != nil {
		return AgentRun{}, err
	}
	run := AgentRun{RunRef: in.AgentRun(question.Project, in.Turn, in.Call)}
	run.Input, err = a.Agents.PrepareAgent(ctx, record.AgentQuestion{Run: run.RunRef, Text: question.Text, Project: in.Project, Caller: c.Request})
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = knowledge.Errorf(knowledge.CodeNotFound, "the assistant does not exist any more, or the asker may not use it: answer without it")
	}
	return run, err
}

// RecordAgentInput puts the run of an agent on record.
type RecordAgentInput struct {
	knowledge.RunRef
	Caller string `json:"caller"` // the run that asks
}

// RecordAgent puts the run of an agent on record. It is a local activity of that run.
func (a *AskingAgents) RecordAgent(ctx context.Context, in RecordAgentInput) error {
	if err := a.Agents.RecordAgent(ctx, in.RunRef, in.Caller); err != nil {
		return a.fail(ctx, in.RunRef, fmt.Errorf("record run %s: %w", in.Run, err))
	}
	return nil
}

// AgentAnswerInput names a tool call and the run that answered it.
type AgentAnswerInput struct {
	ToolCallInput
	Agent knowledge.RunRef `json:"agent"`
}

// TakeAgentAnswer returns the answer of an agent as the output of the call: the passages
// that it cites, by their ids, and the words of its answer behind them. A run that failed
// is a failure of the call.
func (a *AskingAgents) TakeAgentAnswer(ctx context.Context, in AgentAnswerInput) (record.ToolOutput, error) {
	defer step.Heartbeat(ctx)()
	output, err := a.takeAgentAnswer(ctx, in)
	if err != nil {
		return output, a.fail(ctx, in.RunRef, err)
	}
	return output, nil
}

func (a *AskingAgents) takeAgentAnswer(ctx context.Context, in AgentAnswerInput) (record.ToolOutput, error) {
	run, err := a.Runs.RunForSystem(ctx, in.Agent.Workspace, in.Agent.Run)
	if err != nil {
		return record.ToolOutput{}, fmt.Errorf("read run %s: %w", in.Agent.Run, err)
	}
	var usage knowledge.Usage
	if len(run.Usage) > 0 {
		if err := json.Unmarshal(run.Usage, &usage); err != nil {
			return record.ToolOutput{}, fmt.Errorf("decode the usage of run %s: %w", run.ID, err)
		}
	}
	if run.Status != knowledge.RunCompleted {
		why := "it was ended from outside"
		if run.Error != nil {
			why = run.Error.Message
		}
		return record.ToolOutput{Failure: "the assistant did not answer: " + why, Usage: usage}, nil
	}
	found, err := kept(ctx, a.Blobs, in.SearchKey(in.Turn, in.Call), func() (record.Search, error) { return a.agentRecord(ctx, in.Agent) })
	return record.ToolOutput{Search: found.Key, Kept: found.Kept, Usage: usage}, err
}

// agentRecord returns the passages that the answer of an agent cites.
func (a *AskingAgents) agentRecord(ctx context.Context, run knowledge.RunRef) (record.Search, error) {
	var answer record.Answer
	if err := a.Blobs.GetJSON(ctx, run.AnswerKey(), &answer); err != nil {
		return record.Search{}, fmt.Errorf("read the answer of run %s: %w", run.Run, err)
	}
	found := record.Search{Passages: []record.Passage{}, Answer: run.AnswerKey()}
	for _, s := range answer.Sources {
		if !slices.Contains(answer.Used, s.Rank) || s.ChunkID == "" && s.Page == nil {
			continue
		}
		found.Passages = append(found.Passages, record.Passage{Page: s.Page, ChunkID: s.ChunkID, DocumentID: s.DocumentID, Version: s.Version, Score: s.Score, Rows: s.Rows})
	}
	found.Retrieved = len(found.Passages)
	return found, nil
}

// agentWords returns what the model reads of an agent's answer. passages are the passages of the
// record, as they are ranked in the run that asked.
func agentWords(ctx context.Context, blobs step.Blobs, key string, passages []record.Passage) (string, error) {
	var answer record.Answer
	if err := blobs.GetJSON(ctx, key, &answer); err != nil {
		return "", fmt.Errorf("read the answer of an agent: %w", err)
	}
	words := citation.Renumber(answer.Answer, func(id string) int {
		if i := slices.IndexFunc(passages, func(p record.Passage) bool { return p.ID() == id }); i >= 0 {
			return passages[i].Rank
		}
		return 0
	})
	return "The assistant's answer:\n" + tool.CutWords(words), nil
}
