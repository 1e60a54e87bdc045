package question

import (
	"context"
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Evaluated returns a project by its id or its name, and the request that each question of an
// evaluation begins with: the principal asks it in no conversation, with an override of the
// configuration as questions take it. Steps that change no answer are left out of it.
func (s *Starter) Evaluated(ctx context.Context, p knowledge.Principal, idOrName string, override json.RawMessage) (knowledge.Project, knowledge.Request, error) {
	project, err := s.Project(ctx, p, idOrName)
	if err != nil {
		return project, knowledge.Request{}, err
	}
	if project.ID == "" {
		return project, knowledge.Request{}, knowledge.Invalid("body.project_id", "is needed: an evaluation is of one project")
	}
	r := Request{Kind: knowledge.KindQuery, Project: project.ID, Override: override}
	setup, err := s.Setup(ctx, p, project, r)
	if err != nil {
		return project, knowledge.Request{}, err
	}
	setup.Config.AI.PostQuery.Suggestions, setup.Config.AI.PostQuery.SourceFilter = false, false
	template, err := s.snapshot(ctx, p, "", r, setup)
	return project, template, err
}

// GenerationSetup returns the settings by which a search of a project finds passages for a question that
// a model has written.
func (s *Starter) GenerationSetup(ctx context.Context, p knowledge.Principal, project knowledge.Project) (knowledge.RetrievalConfig, error) {
	setup, err := s.Setup(ctx, p, project, Request{Kind: knowledge.KindQuery, Project: project.ID})
	return setup.Config.AI.Retrieval, err
}

// JudgeFields returns what is wrong with the name of a model that judges, which stands at
// location in the request.
func (s *Starter) JudgeFields(location, model string) []knowledge.Field {
	return knowledge.UnknownModel(location, model, s.cfg.ChatModels)
}
