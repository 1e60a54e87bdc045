package api

import (
	"context"
	"fmt"
	"io"

	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// openaiLibrary makes projects and documents for package openai, and holds the files that
// belong to none yet.
type openaiLibrary struct {
	Blobs

	store            Store
	intake           *intake.Intake
	attributes       Attributes
	questions        *question.Starter
	retriever        Retriever
	originals        *originals
	documentRemovals *documentRemovals
	projects         *projectRoutes
	projectRemovals  *projectRemovals
}

// CreateProject implements openai.Library.
func (l *openaiLibrary) CreateProject(ctx context.Context, p knowledge.Principal, name string) (knowledge.Project, error) {
	made, err := l.projects.createProject(ctx, p, projectBody{ProjectChange: ProjectChange{Name: &name}})
	if err != nil {
		return knowledge.Project{}, err
	}
	return l.store.Project(ctx, p, made.Body.ID)
}

// RenameProject implements openai.Library.
func (l *openaiLibrary) RenameProject(ctx context.Context, p knowledge.Principal, id, name string) (knowledge.Project, error) {
	project, _, err := l.projects.updateProject(ctx, p, id, ProjectChange{Name: &name}, projectUpdate{})
	if err != nil {
		return project, fmt.Errorf("rename project %s: %w", id, err)
	}
	return project, nil
}

// RemoveProject implements openai.Library.
func (l *openaiLibrary) RemoveProject(ctx context.Context, p knowledge.Principal, idOrName string) (store.Run, error) {
	return l.projectRemovals.start(ctx, p, idOrName)
}

// AddDocument implements openai.Library.
func (l *openaiLibrary) AddDocument(ctx context.Context, p knowledge.Principal, project knowledge.Project, f openai.NewFile) error {
	batch := l.intake.NewBatch(p, project, intake.Run{ID: knowledge.NewID()})
	err := batch.Add(ctx, f.Name, f.ExternalID, f.Content)
	if err == nil {
		_, err = batch.Accept(ctx, intake.Attributes{ExternalID: f.ExternalID, Metadata: f.Attributes})
	}
	if err != nil {
		batch.Discard(ctx, err)
		return fmt.Errorf("add file %s: %w", f.ExternalID, err)
	}
	return nil
}

// ChangeAttributes implements openai.Library.
func (l *openaiLibrary) ChangeAttributes(ctx context.Context, p knowledge.Principal, id string, attributes map[string]any) error {
	if wrong := knowledge.MetadataFields("body.attributes", attributes); wrong != nil {
		return knowledge.InvalidFields(wrong)
	}
	_, err := l.store.UpdateDocument(ctx, p, id, store.DocumentPatch{Metadata: &attributes})
	if err == nil {
		err = l.attributes.UpdateIndex(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("change the attributes of document %s: %w", id, err)
	}
	return nil
}

// RemoveDocument implements openai.Library.
func (l *openaiLibrary) RemoveDocument(ctx context.Context, p knowledge.Principal, id string) error {
	_, err := l.documentRemovals.start(ctx, p, knowledge.NewID(), id)
	return err
}

// Original implements openai.Library.
func (l *openaiLibrary) Original(ctx context.Context, p knowledge.Principal, document string) (io.ReadCloser, error) {
	v, err := l.originals.readableVersion(ctx, p, document)
	if err != nil {
		return nil, err
	}
	audit.Left(ctx, v.Document)
	content, err := l.originals.open(ctx, v)
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Keys implements openai.Library.
func (l *openaiLibrary) Keys(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	for object, err := range l.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list blobs: %w", err)
		}
		keys = append(keys, object.Key)
	}
	return keys, nil
}

// Search implements openai.Library.
func (l *openaiLibrary) Search(ctx context.Context, p knowledge.Principal, project knowledge.Project, s openai.Search) ([]openai.Passage, error) {
	setup, err := l.questions.Setup(ctx, p, project, question.Request{Filter: s.Filter})
	if err != nil {
		return nil, err
	}
	config := setup.Config
	config.AI.Retrieval.NumberOfChunks = s.Most
	config = config.WithDefaults()
	result, err := l.retriever.Retrieve(ctx, retrieve.Request{
		Principal: p, Query: s.Text, Projects: setup.Projects, Filter: setup.Filter, Scope: setup.Scope, Config: config.AI.Retrieval, Model: config.AI.Model, Failover: config.AI.Failover,
		Enhance: config.AI.Enhances(false) || s.Rewrite, SelfQuery: config.AI.SelfQuery == knowledge.SelfQueryEnabled, Privacy: config.Privacy,
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	audit.Asked(ctx, s.Text)
	found := make([]openai.Passage, 0, len(result.Contexts))
	for _, c := range result.Contexts {
		audit.Left(ctx, c.DocumentID)
		found = append(found, openai.Passage{Document: c.Document, ChunkID: c.ID, Text: c.Text, Score: c.Score})
	}
	return found, nil
}
