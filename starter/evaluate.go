package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type evaluateCmd struct {
	Run       evaluateRunCmd       `cmd:"" default:"withargs" help:"Evaluate a project with the questions of a file."`
	Calibrate evaluateCalibrateCmd `cmd:"" help:"Show whether the scores of a judge can be relied on."`
}

// Help returns an example of the commands.
func (evaluateCmd) Help() string {
	return "Example:\n\n    cairn evaluate questions.csv --project legal --fail-under score=1.6,context=1.5 --junit report.xml"
}

type evaluateRunCmd struct {
	clientFlags
	File      source   `arg:"" help:"Questions with their expected answers: .json, .jsonl or .csv; - is standard input (JSON)."`
	Project   string   `short:"p" default:"default" help:"The project that answers, by its id or its name."`
	Name      string   `help:"The name of the test set that is stored. Default: the name of the file."`
	Baseline  string   `placeholder:"ID" help:"An earlier evaluation to compare with: to be worse fails."`
	FailUnder string   `name:"fail-under" placeholder:"MEASURE=VALUE,…" help:"The least means, such as score=1.6,context=1.5; the greatest of latency and tokens."`
	JUnit     string   `name:"junit" placeholder:"FILE" help:"Write a JUnit report."`
	Judge     string   `placeholder:"offline|MODEL" default:"offline" help:"The chat model that judges, or offline: words, numbers and negations are compared."`
	Times     int      `name:"judge-times" placeholder:"N" help:"How often a model scores each of the first 50 answers, to see whether it contradicts itself. Default: 3 with a limit or a baseline, else 1."`
	Repeats   int      `placeholder:"N" default:"1" help:"How often each question is asked."`
	Sample    int      `placeholder:"N" help:"Ask only so many of the questions."`
	Seed      uint64   `default:"1" help:"Chooses the sample."`
	Grid      []string `sep:"none" placeholder:"SETTING=VALUE,…" help:"Try these values of a setting beside the saved ones, such as numberOfChunks=5,10; may be repeated, and all combinations are tried. Values with commas: SETTING=[\"…\", \"…\"]."`
	Tokens    int      `name:"budget-tokens" placeholder:"N" help:"Ask no further question when so many tokens are used."`
	Cost      float64  `name:"budget-cost" placeholder:"AMOUNT" help:"Ask no further question when so much is spent, in the currency of models.prices."`
}

// Help returns the command's details and examples.
func (evaluateRunCmd) Help() string {
	return "cairn evaluate FILE is short for cairn evaluate run FILE.\n\n" +
		"The questions are stored as a test set under their name; other questions under the same name make a new version of it.\n\n" +
		"A limit holds if the whole 95 % interval is on its good side. Exit codes: 0 all limits hold, 1 a mean is below its limit for certain, worse than the baseline, or the evaluation failed, " +
		"4 undecided: more questions are needed, 5 the judge failed too often, or gave more than 10 % of the answers different scores when asked again. 2, 3 and 130 are as for all commands.\n\n" +
		"Example:\n\n" +
		"    cairn evaluate run questions.csv\n" +
		"    cairn evaluate questions.jsonl --project legal --judge gpt-4o --fail-under score=1.6,context=1.5 --junit report.xml\n" +
		"    cairn evaluate questions.csv --baseline 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11\n" +
		"    cairn evaluate questions.csv --grid retrieval.strategy=hybrid,dense --grid numberOfChunks=5,10"
}

// gateTimes is how often a model scores the first answers if its scores decide something.
const gateTimes = 3

// gateError is a gate that did not hold.
type gateError struct {
	text string
	exit int
}

func (e gateError) Error() string { return e.text }

// Run evaluates a project.
func (e evaluateRunCmd) Run(ctx context.Context, a *app) error {
	gate, err := parseGate(e.FailUnder)
	if err != nil {
		return err
	}
	grid, err := parseGrid(e.Grid)
	if err != nil {
		return err
	}
	if len(grid) > 0 && (len(gate) > 0 || e.Baseline != "" || e.JUnit != "") {
		return wrongUse("--grid compares with the saved settings, and cannot be with --baseline, --fail-under or --junit")
	}
	items, name, err := e.items(a)
	if err != nil {
		return err
	}
	c, err := e.connectProject(ctx, &e.Project)
	if err != nil {
		return err
	}
	if e.Baseline != "" {
		if _, err = e.connectEvaluation(ctx, &e.Baseline); err != nil {
			return err
		}
	}
	set, err := storeTestSet(ctx, c, e.Project, name, items)
	if err != nil {
		return err
	}
	request := client.NewEvaluation{TestSetID: set.ID, ProjectID: e.Project, Grid: grid, Repeats: e.Repeats, Sample: e.Sample, Seed: e.Seed, Budget: knowledge.Budget{Tokens: e.Tokens, Cost: e.Cost}}
	if e.Judge != "offline" {
		request.Judge = &client.Judge{Model: e.Judge, Times: e.Times}
		if e.Times == 0 && (len(gate) > 0 || e.Baseline != "") {
			request.Judge.Times = gateTimes
		}
	}
	started, err := c.StartEvaluation(ctx, request)
	if err != nil {
		return err
	}
	n := narrator{app: a, quiet: e.forPrograms()}
	_, failed := n.end(ctx, c, started.RunID)
	if ctx.Err() != nil {
		return failed
	}
	return e.conclude(ctx, a, c, started.ID, gate, items, failed)
}

// conclude shows what an evaluation came to, and holds it against the gate and the baseline.
func (e evaluateRunCmd) conclude(ctx context.Context, a *app, c *client.Client, id string, gate evaluate.Gate, items []evaluate.Item, failed error) error {
	ended, err := wholeEvaluation(ctx, c, id)
	if err != nil {
		return errors.Join(failed, err)
	}
	if len(ended.Cells) > 0 {
		return errors.Join(e.showExperiment(a, ended), failed)
	}
	report, err := reportOf(ended, items)
	if err != nil {
		return err
	}
	var compared *comparison
	if e.Baseline != "" {
		if compared, err = compareEvaluations(ctx, c, e.Baseline, id, 0, 0); err != nil {
			return err
		}
		report.Compared, report.Summary.Warnings = &compared.Comparison, append(report.Summary.Warnings, compared.Warnings...)
	}
	if len(gate) > 0 || report.Compared != nil {
		decision := gate.Decide(report.Summary, report.Compared, report.Consistency)
		report.Decided = &decision
	}
	if e.JUnit != "" {
		if err := writeJUnit(e.JUnit, report); err != nil {
			return err
		}
	}
	if e.forPrograms() {
		ended.Items = nil
		err = e.write(a, evaluateResult{ended, compared, report.Decided})
	} else {
		fmt.Fprintf(a.stdout, "evaluation %s\n", id)
		err = evaluate.WriteTable(a.stdout, report)
	}
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case report.Decided != nil && !report.Decided.Passed:
		return gateError{"the evaluation did not pass: " + firstReason(report.Decided.Reasons), report.Decided.Exit}
	}
	return nil
}

// showExperiment shows what an experiment came to.
func (e evaluateRunCmd) showExperiment(a *app, ended client.Evaluation) error {
	if e.forPrograms() {
		ended.Items = nil
		return e.write(a, ended)
	}
	fmt.Fprintf(a.stdout, "evaluation %s\n", ended.ID)
	return writeExperiment(a, ended)
}

// evaluateResult is what the command prints for programs.
type evaluateResult struct {
	client.Evaluation
	Comparison *comparison        `json:"comparison,omitempty"`
	Decision   *evaluate.Decision `json:"decision,omitempty"`
}

func firstReason(reasons []string) string {
	if len(reasons) == 0 {
		return "see the table"
	}
	return reasons[0]
}

func parseGate(text string) (evaluate.Gate, error) {
	if text == "" {
		return nil, nil
	}
	gate, err := evaluate.ParseGate(text)
	if err != nil {
		return nil, wrongUse("--fail-under: %v", err)
	}
	return gate, nil
}

// items reads the questions.
func (e evaluateRunCmd) items(a *app) (items []evaluate.Item, name string, err error) {
	path := string(e.File)
	if path == "-" {
		items, err = evaluate.Read(a.stdin, evaluate.FormatJSON)
	} else {
		items, err = readQuestions(path)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the questions of %s: %w", path, err)
	}
	if len(items) == 0 {
		return nil, "", wrongUse("%s has no question", path)
	}
	if name = e.Name; name == "" {
		name = filepath.Base(path)
	}
	return evaluate.WithIDs(items), name, nil
}

// readQuestions reads a file of questions.
func readQuestions(path string) ([]evaluate.Item, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return evaluate.Read(bytes.NewReader(content), evaluate.FormatOf(path, content))
}

// storeTestSet stores questions as a test set, or as the newest version of the one of its name.
func storeTestSet(ctx context.Context, c *client.Client, project, name string, items []evaluate.Item) (client.TestSet, error) {
	encoded, err := json.Marshal(items)
	if err != nil {
		return client.TestSet{}, fmt.Errorf("encode the questions: %w", err)
	}
	known, err := c.TestSets(ctx, project, name, "", 1)
	if err != nil {
		return client.TestSet{}, err
	}
	switch {
	case len(known.Data) == 0:
		return c.AddTestSet(ctx, client.NewTestSet{ProjectID: project, Name: name, Items: encoded})
	case known.Data[0].Hash == evaluate.Version(items):
		return known.Data[0], nil
	}
	return c.ChangeTestSet(ctx, known.Data[0].ID, client.NewTestSet{Items: encoded})
}

func writeJUnit(path string, report evaluate.Report) error {
	var b bytes.Buffer
	if err := evaluate.WriteJUnit(&b, report); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil { //nolint:gosec // other programs read a report
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	return nil
}
