package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/client"
)

type projectsUsageCmd struct {
	listFlags
	ID   string `arg:"" help:"The project's id or name, or the beginning of its id."`
	From string `help:"The first day, in UTC, such as 2026-01-31. Default: 29 days before the last one."`
	To   string `help:"The last day. Default: today."`
}

// Help returns the command's details and an example.
func (projectsUsageCmd) Help() string {
	return "The sums include finished questions, ingests and reindexes, and imports up to now, each on the day on which it started. A document counts for the model that embedded it. Seconds are the duration of the runs.\n\nExample:\n\n" +
		"    cairn projects usage default --from 2026-01-01 --to 2026-01-31"
}

// Run shows the usage of a project.
func (u projectsUsageCmd) Run(ctx context.Context, a *app) error {
	c, err := u.connectProject(ctx, &u.ID)
	if err != nil {
		return err
	}
	usage, err := c.ProjectUsage(ctx, u.ID, u.From, u.To)
	if err != nil {
		return err
	}
	if u.forPrograms() {
		return u.write(a, usage)
	}
	row := func(day, model string, s client.UsageSum) []string {
		return []string{day, model, strconv.Itoa(s.Runs), strconv.Itoa(s.ModelCalls), strconv.Itoa(s.PromptTokens), strconv.Itoa(s.CompletionTokens), strconv.Itoa(s.EmbeddingTokens), fmt.Sprintf("%.1f", s.Seconds)}
	}
	var rows [][]string
	for _, d := range usage.Days {
		rows = append(rows, row(d.Day, d.Model, d.UsageSum))
	}
	rows = append(rows, row("total", "", usage.Total))
	return u.table(a, listing{
		header: []string{"DAY", "MODEL", "RUNS", "CALLS", "PROMPT TOKENS", "ANSWER TOKENS", "EMBEDDED TOKENS", "SECONDS"},
		rows:   rows,
		spare:  []string{"EMBEDDED TOKENS", "CALLS", "SECONDS"},
	})
}
