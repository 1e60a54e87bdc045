package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// StepRunner runs steps of pipelines.
type StepRunner interface {
	// Run is as in pipeline.Runner.
	Run(ctx context.Context, c pipeline.Call) ([]byte, error)
}

// pipelineRoutes holds the route that tries a step on a document or a question.
type pipelineRoutes struct {
	store     Store
	parsed    *parsedRoutes
	retriever Retriever
	questions *question.Starter
	addresses Addresses
	steps     StepRunner
}

func (r *pipelineRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Anew: true, Operation: huma.Operation{
		OperationID: "try-pipeline-step", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/projects/{id}/pipeline/try",
		Summary: "Try a step of a pipeline on a document or a question", Tags: []string{"projects"},
		Description: "Runs the step once, as it would run, and changes nothing. The step does not have to be saved. The caller must be able to read the document, or what is found for the question.",
	}}, r.try)
}

type tryBody struct {
	Step       knowledge.PipelineStep `json:"step"`
	DocumentID string                 `json:"document_id,omitempty" maxLength:"200" doc:"For extracted and before_embedding: a published document of the project"`
	Question   string                 `json:"question,omitempty" maxLength:"20000" doc:"For before_prompt and after_answer"`
	Answer     string                 `json:"answer,omitempty" maxLength:"100000" doc:"For after_answer: the answer that the step gets"`
}

// stepTried is what a step was sent and what it answered.
type stepTried struct {
	Version string  `json:"version" doc:"The hash of what the step does"`
	Input   any     `json:"input" doc:"What the step was sent"`
	Output  any     `json:"output" doc:"What it answered; null if nothing"`
	Changed bool    `json:"changed"`
	Seconds float64 `json:"seconds"`
	Error   *struct {
		Code    knowledge.Code `json:"code"`
		Message string         `json:"message"`
	} `json:"error,omitempty" doc:"Why the step failed or refused"`
}

func (r *pipelineRoutes) try(ctx context.Context, p knowledge.Principal, in *struct {
	ProjectPath
	Body tryBody
}) (*struct{ Body stepTried }, error) {
	b := in.Body
	project, err := r.store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	if err := knowledge.InvalidFields(b.Step.Fields("body.step", project.Config.Privacy, r.addresses.CheckURL)); err != nil {
		return nil, err
	}
	input, apply, err := r.input(ctx, p, project, b)
	if err != nil {
		return nil, err
	}
	tried := stepTried{Version: b.Step.Version(), Input: input}
	started := time.Now()
	output, err := r.run(ctx, project, b.Step, input)
	tried.Seconds = math.Round(time.Since(started).Seconds()*1000) / 1000
	if err == nil {
		if len(output) > 0 && json.Unmarshal(output, &tried.Output) != nil {
			tried.Output = string(output)
		}
		tried.Changed, err = apply(output)
	}
	if known := knowledge.AsError(err); err != nil && (known.Code == knowledge.CodeStepFailed || known.Code == knowledge.CodeStepRejected || known.Code == knowledge.CodeNeedsComponent) {
		tried.Error = &struct {
			Code    knowledge.Code `json:"code"`
			Message string         `json:"message"`
		}{known.Code, known.Message}
		err = nil
	}
	return &struct{ Body stepTried }{tried}, err
}

func (r *pipelineRoutes) run(ctx context.Context, project knowledge.Project, s knowledge.PipelineStep, input any) ([]byte, error) {
	if r.steps == nil {
		return nil, knowledge.Errorf(knowledge.CodeNeedsComponent, "this process runs no steps")
	}
	data, err := pipeline.Encode(input)
	if err != nil {
		return nil, err
	}
	return r.steps.Run(ctx, pipeline.Call{
		Workspace: project.Workspace, Project: project.ID, ID: knowledge.NewID(), Step: s, Input: data, Once: true, Private: project.Config.Privacy.RedactsForProviders(),
	})
}

// input returns what a step is sent, and what checks its answer and reports whether it changes
// something.
func (r *pipelineRoutes) input(ctx context.Context, p knowledge.Principal, project knowledge.Project, b tryBody) (input any, apply func([]byte) (bool, error), err error) {
	switch b.Step.At {
	case knowledge.PipelineExtracted, knowledge.PipelineBeforeEmbedding:
		return r.ofDocument(ctx, p, project, b)
	}
	if b.Question == "" {
		return nil, nil, knowledge.Invalid("body.question", "must be a question for a step at %s", b.Step.At)
	}
	if b.Step.At == knowledge.PipelineAfterAnswer && b.Answer == "" {
		return nil, nil, knowledge.Invalid("body.answer", "must be an answer for a step at %s", b.Step.At)
	}
	passages, err := r.find(ctx, p, project, b.Question)
	if err != nil {
		return nil, nil, err
	}
	if b.Step.At == knowledge.PipelineBeforePrompt {
		return pipeline.BeforePrompt{At: b.Step.At, Question: b.Question, Passages: passages}, func(output []byte) (bool, error) {
			answer, err := pipeline.Decode[pipeline.BeforePromptAnswer](output)
			if err != nil {
				return false, err
			}
			_, chosen, err := answer.Choose(passages)
			return chosen || answer.Question != "" || answer.Instructions != "", err
		}, nil
	}
	sources := make([]pipeline.Source, 0, len(passages))
	for i, passage := range passages {
		sources = append(sources, pipeline.Source{Number: i + 1, Passage: passage})
	}
	return pipeline.AfterAnswer{At: b.Step.At, Question: b.Question, Answer: b.Answer, Sources: sources}, func(output []byte) (bool, error) {
		answer, err := pipeline.Decode[pipeline.AfterAnswerAnswer](output)
		if err == nil {
			err = answer.Check()
		}
		return err == nil && answer.Answer != nil && *answer.Answer != b.Answer, err
	}, nil
}

func (r *pipelineRoutes) ofDocument(ctx context.Context, p knowledge.Principal, project knowledge.Project, b tryBody) (any, func([]byte) (bool, error), error) {
	if b.DocumentID == "" {
		return nil, nil, knowledge.Invalid("body.document_id", "must be a document for a step at %s", b.Step.At)
	}
	v, err := r.parsed.originals.chosenVersion(ctx, p, b.DocumentID, 0)
	if err == nil && v.Project != project.ID {
		err = knowledge.NotFound("document", b.DocumentID)
	}
	if err != nil {
		return nil, nil, err
	}
	audit.Left(ctx, v.Document)
	d := pipeline.Document{ID: v.Document, Version: v.Version, Name: v.Name, MimeType: v.MediaType, Tags: v.Tags, Metadata: v.Metadata}
	if b.Step.At == knowledge.PipelineExtracted {
		layout, err := r.parsed.layout(ctx, v)
		return pipeline.NewExtracted(d, layout), func(output []byte) (bool, error) {
			answer, err := pipeline.Decode[pipeline.ExtractedAnswer](output)
			if err != nil {
				return false, err
			}
			_, _, changed, err := answer.Apply(layout)
			return changed || !answer.IsZero(), err
		}, err
	}
	chunks, err := r.chunks(ctx, p, v.Document)
	return pipeline.NewBeforeEmbedding(d, chunks), func(output []byte) (bool, error) {
		answer, err := pipeline.Decode[pipeline.BeforeEmbeddingAnswer](output)
		if err != nil {
			return false, err
		}
		_, changed, err := answer.Apply(chunks, func(string) bool { return true })
		return changed || !answer.IsZero(), err
	}, err
}

// chunks returns all passages of a document.
func (r *pipelineRoutes) chunks(ctx context.Context, p knowledge.Principal, document string) (all []knowledge.Chunk, err error) {
	page := store.Page{Limit: 500}
	for {
		chunks, next, err := r.store.DocumentChunks(ctx, p, document, page)
		if err != nil {
			return nil, fmt.Errorf("read the passages of document %s: %w", document, err)
		}
		all = append(all, chunks...)
		if next == "" {
			return all, nil
		}
		page.Cursor = next
	}
}

// find returns the passages that the caller finds for a question, as steps see them.
func (r *pipelineRoutes) find(ctx context.Context, p knowledge.Principal, project knowledge.Project, text string) ([]pipeline.Passage, error) {
	audit.Asked(ctx, text)
	if err := question.CheckText("body.question", text); err != nil {
		return nil, err
	}
	setup, err := r.questions.Setup(ctx, p, project, question.Request{})
	if err != nil {
		return nil, err
	}
	result, err := r.retriever.Retrieve(ctx, retrieve.Request{
		Principal: p, Query: text, Projects: setup.Projects, Filter: setup.Filter, Scope: setup.Scope, Config: setup.Config.AI.Retrieval, Privacy: setup.Config.Privacy,
	})
	if err != nil {
		return nil, fmt.Errorf("retrieve: %w", err)
	}
	contexts, err := retrieve.Passages(ctx, r.store, p, result.Contexts)
	if err != nil {
		return nil, fmt.Errorf("retrieve: %w", err)
	}
	passages := make([]pipeline.Passage, 0, len(contexts))
	for i, c := range contexts {
		one := pipeline.Passage{ID: c.ChunkID, DocumentID: c.DocumentID, Document: c.DocumentName, Text: c.Text, Score: c.Score}
		if lines := result.Contexts[i].Lines; len(lines) > 0 {
			one.Page = lines[0].Page
		}
		audit.Left(ctx, c.DocumentID)
		passages = append(passages, one)
	}
	return passages, nil
}
