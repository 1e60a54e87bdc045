package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
)

type testSetsCmd struct {
	List     testSetsListCmd     `cmd:"" help:"List test sets, newest first."`
	Show     testSetsShowCmd     `cmd:"" help:"Print the questions of a test set."`
	Add      testSetsAddCmd      `cmd:"" help:"Store the questions of a file as a test set."`
	Generate testSetsGenerateCmd `cmd:"" help:"Make a test set from the documents of a project."`
	Feedback testSetsFeedbackCmd `cmd:"" help:"Make a test set from rated answers."`
	Remove   testSetsRemoveCmd   `cmd:"" help:"Remove a test set."`
}

// Help returns an example of the commands.
func (testSetsCmd) Help() string {
	return "A test set has questions with their expected answers and documents.\n\nExample:\n\n    cairn test-sets generate --project legal --count 100"
}

type testSetsListCmd struct {
	listFlags
	Project string `short:"p" help:"Only test sets of this project."`
	Limit   atMost `default:"20" help:"The largest number of test sets; 0 = all."`
}

// Help returns the command's example.
func (testSetsListCmd) Help() string { return "Example:\n\n    cairn test-sets list --json" }

// Run lists test sets.
func (l testSetsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectProject(ctx, &l.Project)
	if err != nil {
		return err
	}
	list, err := pages(int(l.Limit), func(cursor string, limit int) (client.List[client.TestSet], error) {
		return c.TestSets(ctx, l.Project, "", cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.TestSet]{Data: list})
	}
	rows := make([][]string, 0, len(list))
	for _, s := range list {
		rows = append(rows, []string{s.ID, s.Name, s.ProjectID, fmt.Sprint(s.Version), fmt.Sprint(s.Count), l.when(a, s.UpdatedAt)})
	}
	return l.table(a, listing{
		none:   "no test sets; cairn test-sets add stores one",
		header: []string{"ID", "NAME", "PROJECT", "VERSION", "ITEMS", "CHANGED"},
		rows:   rows,
		spare:  []string{"CHANGED", "VERSION", "PROJECT"},
	})
}

type testSetsShowCmd struct {
	clientFlags
	ID     string `arg:"" help:"The test set."`
	Format string `enum:"json,jsonl,csv" default:"jsonl" help:"How the questions are printed: json, jsonl or csv."`
}

// Help returns the command's example.
func (testSetsShowCmd) Help() string {
	return "Example:\n\n    cairn test-sets show 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 --format csv > questions.csv"
}

// Run prints the questions of a test set.
func (s testSetsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectTestSet(ctx, &s.ID)
	if err != nil {
		return err
	}
	whole, items, err := allItems(ctx, c, s.ID)
	if err != nil {
		return err
	}
	if s.forPrograms() {
		if whole.Items, err = json.Marshal(items); err != nil {
			return fmt.Errorf("encode the questions: %w", err)
		}
		whole.NextCursor = ""
		return s.write(a, whole)
	}
	var b bytes.Buffer
	if err := evaluate.Write(&b, evaluate.Format(s.Format), items); err != nil {
		return fmt.Errorf("write the questions: %w", err)
	}
	_, err = a.stdout.Write(b.Bytes())
	return err
}

// allItems returns a test set and all its questions.
func allItems(ctx context.Context, c *client.Client, id string) (whole client.TestSet, items []evaluate.Item, err error) {
	items, err = pages(0, func(cursor string, limit int) (client.List[evaluate.Item], error) {
		page, err := c.TestSet(ctx, id, cursor, limit)
		if err != nil {
			return client.List[evaluate.Item]{}, err
		}
		whole = page
		list := client.List[evaluate.Item]{NextCursor: page.NextCursor}
		return list, json.Unmarshal(page.Items, &list.Data)
	})
	return whole, items, err
}

type testSetsAddCmd struct {
	clientFlags
	File    source `arg:"" help:"Questions: .json, .jsonl or .csv; - is standard input (JSON)."`
	Project string `short:"p" default:"default" help:"The project that the test set belongs to."`
	Name    string `help:"The name of the test set. Default: the name of the file."`
}

// Help returns the command's example.
func (testSetsAddCmd) Help() string {
	return "Questions under the name of a test set of the project make a new version of it.\n\nExample:\n\n    cairn test-sets add questions.csv --project legal"
}

// Run stores a test set.
func (t testSetsAddCmd) Run(ctx context.Context, a *app) error {
	items, name, err := evaluateRunCmd{File: t.File, Name: t.Name}.items(a)
	if err != nil {
		return err
	}
	c, err := t.connectProject(ctx, &t.Project)
	if err != nil {
		return err
	}
	set, err := storeTestSet(ctx, c, t.Project, name, items)
	return t.stored(a, set, err)
}

// stored prints a test set that was stored.
func (f clientFlags) stored(a *app, set client.TestSet, err error) error {
	if err != nil {
		return err
	}
	if f.forPrograms() {
		return f.write(a, set)
	}
	_, err = fmt.Fprintf(a.stdout, "stored test set %s, %s, version %d, %d questions\n", set.ID, set.Name, set.Version, set.Count)
	return err
}

type testSetsFeedbackCmd struct {
	clientFlags
	Project string        `short:"p" default:"default" help:"The project whose answers were rated."`
	Name    string        `help:"The name of the test set. Default: feedback."`
	Rating  string        `enum:"up,down," default:"" help:"Only answers that were rated up, or down."`
	Since   time.Duration `placeholder:"DURATION" help:"Only ratings of this time, such as 720h."`
}

// Help returns the command's example.
func (testSetsFeedbackCmd) Help() string {
	return "Example:\n\n    cairn test-sets feedback --project legal --rating down --since 720h"
}

// Run makes a test set from rated answers.
func (f testSetsFeedbackCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connectProject(ctx, &f.Project)
	if err != nil {
		return err
	}
	var since time.Time
	if f.Since > 0 {
		since = time.Now().Add(-f.Since).UTC()
	}
	set, err := c.TestSetFromFeedback(ctx, f.Project, f.Name, f.Rating, since)
	return f.stored(a, set, err)
}

type testSetsRemoveCmd struct {
	clientFlags
	ID string `arg:"" help:"The test set."`
}

// Help returns the command's example.
func (testSetsRemoveCmd) Help() string {
	return "Evaluations keep the questions that they asked.\n\nExample:\n\n    cairn test-sets remove 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run removes a test set.
func (r testSetsRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connectTestSet(ctx, &r.ID)
	if err != nil {
		return err
	}
	if err := c.RemoveTestSet(ctx, r.ID); err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, map[string]string{"id": r.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "removed test set", r.ID)
	return err
}
