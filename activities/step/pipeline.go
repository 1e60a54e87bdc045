package step

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
)

// StepRunner runs steps of pipelines.
type StepRunner interface {
	// Run is as in pipeline.Runner.
	Run(ctx context.Context, c pipeline.Call) ([]byte, error)
}

// Pipeline runs the steps of a project for one document or question, and keeps what they
// answered: a step whose answer is kept is not asked again.
type Pipeline struct {
	Blobs  Blobs
	Runner StepRunner
	Log    *slog.Logger
}

// PipelineInput names what steps run for.
type PipelineInput struct {
	Workspace, Project string
	Steps              knowledge.Pipeline
	At                 string
	Key                func(name string) string // of the blob of an answer, by its name
	Private            bool                     // as in pipeline.Call
}

// keptAnswer is the blob of what a step answered.
type keptAnswer struct {
	Output  json.RawMessage `json:"output,omitempty"`
	Seconds float64         `json:"seconds"`
}

// Run runs the steps of a place, one after the other. encode returns what the next one is sent,
// and apply makes the changes of its answer and reports whether there are some. A step that
// fails is left out, unless it is required. An error that is no failure of a step is returned
// as it is.
func (p Pipeline) Run(ctx context.Context, in PipelineInput, encode func() ([]byte, error), apply func(output []byte) (changed bool, err error)) ([]knowledge.StepRun, error) {
	runs := []knowledge.StepRun{}
	number := 0
	for _, s := range in.Steps.At(in.At) {
		number++
		run := knowledge.StepRun{Name: s.Name, At: s.At, Version: s.Version(), Status: knowledge.RunCompleted, Required: s.Required}
		if run.Name == "" {
			run.Name = fmt.Sprintf("%s %d", s.At, number)
		}
		err := p.runOne(ctx, in, s, &run, encode, apply)
		known, ok := errors.AsType[*knowledge.Error](err)
		switch {
		case err == nil:
		case !ok || ctx.Err() != nil:
			return runs, err
		case known.Code == knowledge.CodeStepRejected:
			run.Status, run.Message = knowledge.StepRejected, known.Message
			return append(runs, run), &knowledge.Error{Code: known.Code, Message: fmt.Sprintf("the step %q refused it: %s", run.Name, known.Message)}
		case !IsOfStep(known.Code):
			return runs, err
		default:
			p.Log.WarnContext(ctx, "a step of a pipeline failed", "project", in.Project, "step", run.Name, "version", run.Version, "required", s.Required, "failure", known.Message, "error", known.Cause)
			run.Status, run.Message = knowledge.RunFailed, known.Message
			if s.Required {
				return append(runs, run), &knowledge.Error{
					Code: known.Code, Message: fmt.Sprintf("the step %q, which the project requires, failed: %s", run.Name, known.Message), Retryable: known.Retryable, RetryAfter: known.RetryAfter, Cause: known.Cause,
				}
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// IsOfStep reports whether a code is of an error of a step, and not of what runs it.
func IsOfStep(c knowledge.Code) bool {
	return c == knowledge.CodeStepFailed || c == knowledge.CodeStepRejected || c == knowledge.CodeNeedsComponent
}

func (p Pipeline) runOne(ctx context.Context, in PipelineInput, s knowledge.PipelineStep, run *knowledge.StepRun, encode func() ([]byte, error), apply func([]byte) (bool, error)) error {
	input, err := encode()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(run.Version+"\x00"), input...))
	name := hex.EncodeToString(sum[:16])
	key := in.Key(name)
	kept, err := Stored(ctx, p.Blobs, key, func() (keptAnswer, error) {
		started := time.Now()
		output, err := p.Runner.Run(ctx, pipeline.Call{
			Workspace: in.Workspace, Project: in.Project, ID: knowledge.DerivedID("step", key), Step: s, Input: input, Private: in.Private,
		})
		if err == nil && len(bytes.TrimSpace(output)) > 0 && !json.Valid(output) {
			err = knowledge.Errorf(knowledge.CodeStepFailed, "it answered with something other than JSON")
		}
		output = bytes.TrimSpace(output)
		run.Seconds = math.Round(time.Since(started).Seconds()*1000) / 1000
		return keptAnswer{Output: output, Seconds: run.Seconds}, err
	})
	if err != nil {
		return err
	}
	run.Seconds = kept.Seconds
	run.Changed, err = apply(kept.Output)
	return err
}

// RedactFailures redacts what steps said of their failures: the messages of runs, and that of err.
// It returns err with the redacted message, or the error of redact.
func RedactFailures(runs []knowledge.StepRun, err error, redact func(words string) (string, error)) error {
	for i := range runs {
		words, failed := redact(runs[i].Message)
		if failed != nil {
			return failed
		}
		runs[i].Message = words
	}
	known, ok := errors.AsType[*knowledge.Error](err)
	if !ok || !IsOfStep(known.Code) {
		return err
	}
	words, failed := redact(known.Message)
	if failed != nil {
		return failed
	}
	shown := *known
	shown.Message = words
	return &shown
}
