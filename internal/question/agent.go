package question

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// PrepareAgent implements answering.Agents. The run has the principal of the caller, and
// the caller's filter holds for it too. It keeps no conversation.
func (s *Starter) PrepareAgent(ctx context.Context, q record.AgentQuestion) (json.RawMessage, error) {
	p := q.Caller.Principal
	project, err := s.Project(ctx, p, q.Run.Project)
	if err != nil {
		return nil, err
	}
	r := Request{Kind: knowledge.KindQuery, Text: q.Text, TextField: "question", Project: project.ID, Filter: q.Caller.Filter}
	if err := r.check(); err != nil {
		return nil, err
	}
	setup, err := s.Setup(ctx, p, project, r)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.snapshot(ctx, p, q.Run.Run, r, setup)
	if err != nil {
		return nil, err
	}
	snapshot.Callers = append(slices.Clone(q.Caller.Callers), q.Project)
	snapshot.AgentDepth = q.Caller.AgentDepth - 1
	if _, err := s.deps.Blobs.PutJSON(ctx, q.Run.RequestKey(), snapshot); err != nil {
		return nil, fmt.Errorf("write the request of run %s: %w", q.Run.Run, err)
	}
	return json.Marshal(record.NewAnswerInput(q.Run, snapshot))
}

// RecordAgent implements answering.Agents.
func (s *Starter) RecordAgent(ctx context.Context, run knowledge.RunRef, caller string) error {
	snapshot, err := record.ReadRequest(ctx, s.deps.Blobs, run)
	if err != nil {
		return err
	}
	_, err = s.deps.Store.StartRun(ctx, snapshot.Principal, store.Run{
		ID: run.Run, Workspace: run.Workspace, Project: run.Project, Kind: knowledge.KindQuery, Status: knowledge.RunRunning,
		WorkflowID: knowledge.KindQuery.WorkflowID(run.Workspace, run.Run), Owner: snapshot.Principal.Owner(), Parent: caller, CreatedAt: snapshot.Date,
	}, nil)
	return err
}
