package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sandbox"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// Runner runs steps. It is safe for concurrent use.
type Runner struct {
	Projects interface {
		// ProjectForSystem returns a project.
		ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error)
	}
	Secrets interface {
		// Open returns a value that was sealed for the context.
		Open(sealed, context string) (string, error)
	}
	Sender interface {
		// Call is as in webhook.Sender.
		Call(ctx context.Context, m webhook.Message, most int64) ([]byte, webhook.Result)
	}
	Sandbox interface {
		// Available is as in sandbox.Sandbox, and so is Run.
		Available() error
		Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error)
	}
}

// Call is one run of a step.
type Call struct {
	Workspace, Project string
	ID                 string // of the request to an address, the same at each attempt
	Step               knowledge.PipelineStep
	Input              []byte
	// Private means that no address may be sent the input, because the question keeps personal
	// data from providers.
	Private bool
	// Once means that a failure is not tried again.
	Once bool
}

const (
	// attempts is how often a step is tried whose failure may pass.
	attempts = 3
	// firstPause is the pause after the first attempt; the next one is three times as long.
	firstPause = 500 * time.Millisecond
	// longestPause bounds the pause that an address asks for.
	longestPause = 10 * time.Second
)

// Run returns what a step answered. A failure that may pass (no answer in time, 408, 425, 429,
// 5xx) is tried again, three times in all. The error is a *knowledge.Error: of
// knowledge.CodeStepFailed, Retryable if it may pass later; of knowledge.CodeNeedsComponent if
// code cannot be run here; or the cause of ctx.
func (r *Runner) Run(ctx context.Context, c Call) ([]byte, error) {
	pause := firstPause
	for n := 1; ; n++ {
		output, err := r.attempt(ctx, c)
		known, ok := errors.AsType[*knowledge.Error](err)
		if err == nil || n == attempts || c.Once || !ok || !known.Retryable {
			return output, err
		}
		timer := time.NewTimer(min(max(pause, known.RetryAfter), longestPause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		pause *= 3
	}
}

func (r *Runner) attempt(ctx context.Context, c Call) ([]byte, error) {
	if c.Step.Code != nil {
		return r.runCode(ctx, c)
	}
	if c.Private {
		return nil, failed("it is an address, and the question keeps personal data from providers (privacy.providers: redact)")
	}
	return r.send(ctx, c)
}

// send sends the input to the address of a step, signed with the secret of the project's
// callbacks.
func (r *Runner) send(ctx context.Context, c Call) ([]byte, error) {
	project, err := r.Projects.ProjectForSystem(ctx, c.Workspace, c.Project)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", c.Project, err)
	}
	m := webhook.Message{ID: c.ID, URL: c.Step.Webhook.URL, Body: c.Input}
	if project.CallbackSecret != "" {
		if m.Secret, err = r.Secrets.Open(project.CallbackSecret, webhook.CallbackContext(c.Workspace)); err != nil {
			return nil, failed("the callbackSecret of the project cannot be opened: set a new one, or put the instance's secret.key back").WithCause(err)
		}
	}
	limited, cancel := context.WithTimeout(ctx, c.Step.Limit())
	defer cancel()
	body, result := r.Sender.Call(limited, m, MaxBytes)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case result.Outcome == webhook.Taken:
		return body, nil
	case limited.Err() != nil:
		return nil, late(c.Step)
	}
	e := failed("%s", result.Error)
	e.Retryable, e.RetryAfter = result.Outcome == webhook.Retry, result.RetryAfter
	return nil, e
}

func late(s knowledge.PipelineStep) *knowledge.Error {
	e := failed("it did not answer within %d seconds", int(s.Limit().Seconds()))
	e.Retryable = true
	return e
}

// The files of the working folder of code.
const (
	inputFile  = "input.json"
	outputFile = "output.json"
)

// launcher is the job that runs the code of a step with its input and output.
const launcher = `import subprocess, sys
with open("input.json", "rb") as given, open("output.json", "wb") as answer:
    sys.exit(subprocess.call(%s, stdin=given, stdout=answer))`

// program returns the arguments that run the code of a language, and the file of the code.
func program(language string) (arguments, file string) {
	if language == knowledge.PipelineJavaScript {
		return `["/usr/bin/node", "--max-old-space-size=256", "step.js"]`, "step.js"
	}
	return `["/usr/bin/python3", "-B", "step.py"]`, "step.py"
}

// runCode runs the code of a step in the sandbox.
func (r *Runner) runCode(ctx context.Context, c Call) ([]byte, error) {
	if err := r.Sandbox.Available(); err != nil {
		return nil, err
	}
	if c.Step.Code.Language == knowledge.PipelineJavaScript && !sandbox.Has(sandbox.JavaScript) {
		return nil, knowledge.Errorf(knowledge.CodeNeedsComponent, "node is not installed: apt-get install nodejs")
	}
	arguments, file := program(c.Step.Code.Language)
	job := sandbox.Job{Language: sandbox.Python, Code: fmt.Sprintf(launcher, arguments), Files: map[string][]byte{file: []byte(c.Step.Code.Source), inputFile: c.Input}}
	limited, cancel := context.WithTimeout(ctx, c.Step.Limit())
	defer cancel()
	result, err := r.Sandbox.Run(limited, job)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		return nil, late(c.Step)
	case err != nil:
		return nil, fmt.Errorf("run the code of a step: %w", err)
	case result.Stopped != "":
		return nil, failed("its code was stopped: %s", result.Stopped)
	case result.ExitCode != 0:
		return nil, failed("its code ended with status %d: %s", result.ExitCode, lastLine(result.Stderr))
	case len(result.Files[outputFile]) > MaxBytes:
		return nil, failed("its answer has more than %d MB", MaxBytes>>20)
	}
	return result.Files[outputFile], nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
