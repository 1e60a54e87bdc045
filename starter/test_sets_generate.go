package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

type testSetsGenerateCmd struct {
	clientFlags
	Project string   `short:"p" default:"default" help:"The project whose documents are read."`
	Name    string   `help:"The name of the test set. Default: generated."`
	Count   int      `default:"50" help:"The largest number of questions."`
	Tag     []string `placeholder:"TAG" help:"Only documents with one of these tags; may be repeated."`
	Model   string   `placeholder:"MODEL" help:"The chat model that writes and checks the questions. Default: none, they are made of tables and numbers."`
	Seed    uint64   `placeholder:"N" help:"Chooses the passages."`
}

// Help returns the command's details and examples.
func (testSetsGenerateCmd) Help() string {
	return "Without a model, questions are made from rows of tables, and from sentences with a number or a date.\n\n" +
		"With a model, a question is kept if its answer stands in its passage, if it is not answered rightly without the passage, if a search finds the passage, and if the answer from the passage is the same. " +
		"A comparison must need both of its passages. One question in ten has no answer. A question costs four to eight calls of the model. The command says how many were dropped and why.\n\n" +
		"Example:\n\n    cairn test-sets generate --project legal --count 100\n    cairn test-sets generate --project legal --count 100 --model gpt-4o"
}

// Run makes a test set from documents.
func (g testSetsGenerateCmd) Run(ctx context.Context, a *app) error {
	c, err := g.connectProject(ctx, &g.Project)
	if err != nil {
		return err
	}
	made, err := c.GenerateTestSet(ctx, client.NewGeneration{
		ProjectID: g.Project, Name: g.Name, Count: g.Count, Seed: g.Seed, Model: g.Model, Filter: client.GenerationFilter{Tags: g.Tag},
	})
	if err != nil || made.RunID == "" {
		return g.stored(a, made.TestSet, err)
	}
	n := narrator{app: a, quiet: g.forPrograms()}
	if _, err := n.end(ctx, c, made.RunID); err != nil {
		return err
	}
	set, err := c.TestSet(ctx, made.ID, "", 1)
	set.Items, set.NextCursor = nil, ""
	if err == nil && set.Generated != nil && !g.forPrograms() {
		p := set.Generated
		fmt.Fprintf(a.stdout, "%d questions were written, %d are kept%s\n", p.Written, p.Kept, droppedWords(p.Dropped))
	}
	return g.stored(a, set, err)
}

// droppedWords says how many questions were dropped and why.
func droppedWords(dropped map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(dropped)) {
		parts = append(parts, fmt.Sprintf("%d %s", dropped[reason], strings.ReplaceAll(reason, "_", " ")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; dropped: " + strings.Join(parts, ", ")
}
