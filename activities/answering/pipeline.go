package answering

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/record"
)

// Stepping holds the activities that run the steps of a project for a question.
type Stepping struct {
	stepLog

	Blobs    step.Blobs
	custom   step.Pipeline
	passages *passages
	chats    *chats
}

// StepsInput names the question and what was found or answered so far.
type StepsInput struct {
	knowledge.RunRef
	Loop record.Loop `json:"loop"`
}

// StepsResult is what became of the steps of a place. Words and answers are in blobs, but for
// the answer that readers are shown next.
type StepsResult struct {
	Steps  []knowledge.StepRun `json:"steps"`
	Words  string              `json:"words,omitempty"`  // blob of the record.StepWords, if steps decided something
	Answer string              `json:"answer,omitempty"` // blob of the answer, if a step replaced it
	Text   string              `json:"text,omitempty"`   // that readers are shown in place of the words so far
	// Code and Message are why the question fails.
	Code    knowledge.Code `json:"code,omitempty"`
	Message string         `json:"message,omitempty"`
}

// RunBeforePrompt runs the steps of the project at the place before_prompt over the passages of
// the first search. It asks no step again whose answer is stored.
func (a *Stepping) RunBeforePrompt(ctx context.Context, in StepsInput) (StepsResult, error) {
	return a.run(ctx, in, a.beforePrompt)
}

// RunAfterAnswer runs the steps of the project at the place after_answer. It asks no step again
// whose answer is stored.
func (a *Stepping) RunAfterAnswer(ctx context.Context, in StepsInput) (StepsResult, error) {
	return a.run(ctx, in, a.afterAnswer)
}

// run makes the failure of a step that is required a result, so that the log shows the steps.
func (a *Stepping) run(ctx context.Context, in StepsInput, place func(context.Context, StepsInput, knowledge.Request, *StepsResult) error) (StepsResult, error) {
	defer step.Heartbeat(ctx)()
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	result := StepsResult{Steps: []knowledge.StepRun{}}
	if err == nil {
		err = place(ctx, in, request, &result)
		err = step.RedactFailures(result.Steps, err, func(words string) (string, error) {
			return a.chats.redacted(ctx, request.Config.Privacy, words)
		})
	}
	if known, ok := errors.AsType[*knowledge.Error](err); ok && ctx.Err() == nil && step.IsOfStep(known.Code) {
		result.Code, result.Message = known.Code, known.Message
		return result, nil
	}
	if err != nil {
		return StepsResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("run the steps of the project: %w", err))
	}
	return result, nil
}

func (a *Stepping) input(in StepsInput, r knowledge.Request, at string) step.PipelineInput {
	return step.PipelineInput{
		Workspace: in.Workspace, Project: in.Project, Steps: r.Config.Pipeline, At: at, Key: in.StepKey, Private: r.Config.Privacy.RedactsForProviders(),
	}
}

func (a *Stepping) beforePrompt(ctx context.Context, in StepsInput, r knowledge.Request, result *StepsResult) error {
	found, err := a.passages.lookUp(ctx, r.Principal, in.Loop)
	if err != nil {
		return err
	}
	question, passages, words := r.Question, stepPassages(found), record.StepWords{}
	result.Steps, err = a.custom.Run(ctx, a.input(in, r, knowledge.PipelineBeforePrompt), func() ([]byte, error) {
		return pipeline.Encode(pipeline.BeforePrompt{At: knowledge.PipelineBeforePrompt, Question: question, Passages: passages})
	}, func(output []byte) (bool, error) {
		answer, err := pipeline.Decode[pipeline.BeforePromptAnswer](output)
		if err != nil {
			return false, err
		}
		places, chosen, err := answer.Choose(passages)
		if err != nil {
			return false, err
		}
		if chosen {
			passages = pick(passages, places)
			ids := make([]string, 0, len(passages))
			for _, p := range passages {
				ids = append(ids, p.ID)
			}
			words.Passages = &ids
		}
		question, words.Question = cmp.Or(answer.Question, question), cmp.Or(answer.Question, words.Question)
		words.Instructions = joinWords(words.Instructions, answer.Instructions)
		return chosen || answer.Question != "" || answer.Instructions != "", nil
	})
	if err != nil || words == (record.StepWords{}) {
		return err
	}
	result.Words = in.StepKey("before_prompt")
	if _, err := a.Blobs.PutJSON(ctx, result.Words, words); err != nil {
		return fmt.Errorf("store what the steps of the project decided: %w", err)
	}
	return nil
}

func pick(passages []pipeline.Passage, places []int) []pipeline.Passage {
	chosen := make([]pipeline.Passage, 0, len(places))
	for _, place := range places {
		chosen = append(chosen, passages[place])
	}
	return chosen
}

// stepPassages returns passages as steps see them, by their ranks.
func stepPassages(found foundWords) []pipeline.Passage {
	pages := map[string]int{}
	for _, c := range found.chunks {
		if len(c.Lines) > 0 {
			pages[c.ID] = c.Lines[0].Page
		}
	}
	list := make([]pipeline.Passage, 0, len(found.all))
	for _, c := range found.all {
		list = append(list, pipeline.Passage{
			ID: cmp.Or(c.ChunkID, c.URL), DocumentID: c.DocumentID, Document: cmp.Or(c.DocumentName, c.Title), Page: pages[c.ChunkID], Text: c.Text, Score: c.Score,
		})
	}
	return list
}

func (a *Stepping) afterAnswer(ctx context.Context, in StepsInput, r knowledge.Request, result *StepsResult) error {
	call, err := answerOf(ctx, a.Blobs, in.Loop)
	if err != nil {
		return err
	}
	found, err := a.passages.lookUp(ctx, r.Principal, in.Loop)
	if err != nil {
		return err
	}
	sources := make([]pipeline.Source, 0, len(found.all))
	for i, p := range stepPassages(found) {
		sources = append(sources, pipeline.Source{Number: found.all[i].Rank, Passage: p})
	}
	var plain citation.PlainText
	said, replaced := plain.Write(call.Text)+plain.Close(), false
	result.Steps, err = a.custom.Run(ctx, a.input(in, r, knowledge.PipelineAfterAnswer), func() ([]byte, error) {
		return pipeline.Encode(pipeline.AfterAnswer{At: knowledge.PipelineAfterAnswer, Question: r.Question, Answer: said, Sources: sources})
	}, func(output []byte) (bool, error) {
		answer, err := pipeline.Decode[pipeline.AfterAnswerAnswer](output)
		if err == nil {
			err = answer.Check()
		}
		if err != nil || answer.Answer == nil || *answer.Answer == said {
			return false, err
		}
		said, replaced = *answer.Answer, true
		return true, nil
	})
	if err != nil || !replaced {
		return err
	}
	return a.replace(ctx, in, r, call, found, said, result)
}

// replace stores the answer of a step in place of the model's, with citations of the same
// sources and of no others.
func (a *Stepping) replace(ctx context.Context, in StepsInput, r knowledge.Request, call record.ModelCall, found foundWords, said string, result *StepsResult) (err error) {
	if said, err = a.chats.redacted(ctx, r.Config.Privacy, said); err != nil {
		return err
	}
	rewriter := citation.NewRewriter(found.all)
	if len(r.Form.Format) > 0 {
		rewriter = citation.NewTagRewriter(found.all)
	}
	call.Raw, call.Marked = said, ""
	call.Text = rewriter.Write(said) + rewriter.Close()
	call.Used = rewriter.Used()
	result.Answer, result.Text = in.StepKey("answer"), call.Text
	if _, err := a.Blobs.PutJSON(ctx, result.Answer, call); err != nil {
		return fmt.Errorf("store the answer of a step: %w", err)
	}
	return nil
}
