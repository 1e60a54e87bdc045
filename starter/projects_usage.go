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
	return "The sums include finished questions, ingests and reindexes, and imports up to now, each on the day on which it started. A document counts for the model that embedded it. Seconds are the duration of the runs. The cost is that of the tokens when they were used; it is shown if models.prices of the server has prices.\n\nExample:\n\n" +
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
		cells := []string{day, model, strconv.Itoa(s.Runs), strconv.Itoa(s.ModelCalls), strconv.Itoa(s.PromptTokens), strconv.Itoa(s.CompletionTokens), strconv.Itoa(s.EmbeddingTokens), fmt.Sprintf("%.1f", s.Seconds)}
		if s.Cost != nil {
			cells = append(cells, strconv.FormatFloat(*s.Cost, 'f', costDigits(*s.Cost), 64))
		}
		return cells
	}
	var rows [][]string
	for _, d := range usage.Days {
		rows = append(rows, row(d.Day, d.Model, d.UsageSum))
	}
	rows = append(rows, row("total", "", usage.Total))
	header := []string{"DAY", "MODEL", "RUNS", "CALLS", "PROMPT TOKENS", "ANSWER TOKENS", "EMBEDDED TOKENS", "SECONDS"}
	if usage.Currency != "" {
		header = append(header, "COST IN "+usage.Currency)
	}
	return u.table(a, listing{
		header: header,
		rows:   rows,
		spare:  []string{"EMBEDDED TOKENS", "CALLS", "SECONDS"},
	})
}

// costDigits returns how many decimals a cost is shown with: more for one below a hundredth.
func costDigits(cost float64) int {
	if cost != 0 && cost < 0.01 {
		return 6
	}
	return 2
}
