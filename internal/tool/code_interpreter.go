package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sandbox"
)

const (
	// codeLimit bounds a call: the run of its code, the wait for a free sandbox, and the
	// files.
	codeLimit = 3 * time.Minute
	// maxCode bounds the code of a call, in bytes.
	maxCode = 100_000
	// maxListed bounds the files of the working folder that the model is told of.
	maxListed = 50
)

// Runner runs code; sandbox.Sandbox is one.
type Runner interface {
	// Run runs a job. Code that fails is no error.
	Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error)
}

// Folder keeps the working folder of a run between its calls.
type Folder interface {
	// Before returns the files that the calls of the turns before have written; nil = a
	// file that they have removed.
	Before(ctx context.Context, c Call) (map[string][]byte, error)
	// Save stores what a call has written and removed. It is idempotent.
	Save(ctx context.Context, c Call, written map[string][]byte, removed []string) error
}

// Interpreter is what code_interpreter works with. All fields are required.
type Interpreter struct {
	Runner Runner
	Folder Folder
	Files  Files
	// Attached returns the files that are attached to the conversation of the question
	// and that its principal may read, by name.
	Attached func(ctx context.Context, c Call) (map[string][]byte, error)
	// Languages are those whose programs are installed.
	Languages []sandbox.Language
	// Offered reports whether the model may call the tool.
	Offered func(knowledge.Request) bool
}

// NewCodeInterpreter returns the tool that runs code.
func NewCodeInterpreter(i Interpreter) Tool {
	languages, _ := json.Marshal(i.Languages) // strings
	return Tool{
		Name: knowledge.ToolCodeInterpreter,
		Description: "Run code, to compute, to read and convert files, and to draw. Python has pandas, numpy and matplotlib. There is no network. " +
			"The working folder has the files that are attached to the conversation and those that earlier calls wrote; variables do not last. " +
			"Print what you want to read. Files that the code writes, and its figures, become files that the user can open.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"language":{"type":"string","enum":` + string(languages) + `},` +
			`"code":{"type":"string","minLength":1,"description":"The whole program"}},"required":["language","code"],"additionalProperties":false}`),
		Limit: codeLimit, Offered: i.Offered, Run: i.run,
	}
}

func (i Interpreter) run(ctx context.Context, c Call) (Output, error) {
	var given struct {
		Language sandbox.Language `json:"language"`
		Code     string           `json:"code"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &given); err != nil || given.Code == "" || len(given.Code) > maxCode || !slices.Contains(i.Languages, given.Language) {
		return Output{}, knowledge.Errorf(knowledge.CodeInvalid, "the arguments must be a language out of %v and code of at most %d bytes", i.Languages, maxCode)
	}
	before, err := i.before(ctx, c)
	if err != nil {
		return Output{}, err
	}
	c.Show("execution", map[string]any{"status": "started", "language": given.Language})
	result, err := i.Runner.Run(ctx, sandbox.Job{Language: given.Language, Code: given.Code, Files: before})
	if err != nil {
		return Output{}, fmt.Errorf("run code: %w", err)
	}
	c.Show("execution", map[string]any{"status": "completed", "exit_code": result.ExitCode, "stopped": result.Stopped})
	files, err := i.keep(ctx, c, before, result.Files)
	if err != nil {
		return Output{}, err
	}
	return Output{Words: codeWords(c.Run, result, files), Summary: codeSummary(result), Files: files}, nil
}

// before returns the working folder of a call.
func (i Interpreter) before(ctx context.Context, c Call) (map[string][]byte, error) {
	attached, err := i.Attached(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read the attachments: %w", err)
	}
	left, err := i.Folder.Before(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read the working folder: %w", err)
	}
	all := map[string][]byte{}
	maps.Copy(all, attached)
	for name, content := range left {
		if content == nil { // removed
			delete(all, name)
		} else {
			all[name] = content
		}
	}
	return all, nil
}

// keep stores what a call has changed, and returns the files that it has written.
func (i Interpreter) keep(ctx context.Context, c Call, before, after map[string][]byte) ([]knowledge.RunFile, error) {
	written := map[string][]byte{}
	for name, content := range after {
		if was, there := before[name]; !there || !bytes.Equal(was, content) {
			written[name] = content
		}
	}
	var removed []string
	for name := range before {
		if _, there := after[name]; !there {
			removed = append(removed, name)
		}
	}
	slices.Sort(removed)
	if err := i.Folder.Save(ctx, c, written, removed); err != nil {
		return nil, fmt.Errorf("store the working folder: %w", err)
	}
	var files []knowledge.RunFile
	for _, name := range slices.Sorted(maps.Keys(written)) {
		file, err := i.Files.Add(ctx, c, name, written[name])
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// codeSummary says how a job ended, for readers.
func codeSummary(r sandbox.Result) string {
	if r.Stopped != "" {
		return "stopped: " + r.Stopped
	}
	return fmt.Sprintf("exit status %d, %s printed", r.ExitCode, Size(len(r.Stdout)+len(r.Stderr)))
}

// codeWords describes the outcome of a job to the model.
func codeWords(run string, r sandbox.Result, files []knowledge.RunFile) string {
	var words strings.Builder
	switch {
	case r.Stopped != "":
		fmt.Fprintf(&words, "The code was stopped: %s.\n", r.Stopped)
	case r.ExitCode != 0:
		fmt.Fprintf(&words, "The code ended with status %d.\n", r.ExitCode)
	case r.Stdout == "" && r.Stderr == "" && len(files) == 0:
		words.WriteString("The code ended and printed nothing.\n")
	}
	words.WriteString(r.Stdout)
	if r.Stderr != "" {
		fmt.Fprintf(&words, "\nStandard error:\n%s\n", r.Stderr)
	}
	if len(files) > 0 {
		words.WriteString("\nFiles, which the user can open at these links (show a picture as ![description](link)):\n")
		for _, f := range files {
			fmt.Fprintf(&words, "- %s (%s, %d bytes): %s\n", f.Name, f.MediaType, f.Bytes, FilePath(run, f.Name))
		}
	}
	for _, left := range r.LeftOut {
		fmt.Fprintf(&words, "Not kept: %s\n", left)
	}
	names := slices.Sorted(maps.Keys(r.Files))
	if len(names) > 0 {
		more := ""
		if len(names) > maxListed {
			names, more = names[:maxListed], ", …"
		}
		fmt.Fprintf(&words, "\nThe working folder has: %s%s\n", strings.Join(names, ", "), more)
	}
	return words.String()
}
