package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

type insightsCmd struct {
	listFlags
	Project string `short:"p" default:"default" help:"The project."`
	Since   string `placeholder:"TIME" help:"Only questions from this time on: RFC 3339, or an age such as 24h. Default: 30 days."`
	Limit   atMost `default:"10" help:"The largest number of lines of each kind; 0 = all."`
}

// Help returns the command's details and an example.
func (insightsCmd) Help() string {
	return "Each line names how many runs it is made of, and one of them, which cairn runs show explains; -o json has all.\n\nExample:\n\n    cairn insights --project legal --since 168h"
}

// Run prints what the questions to a project show of it.
func (i insightsCmd) Run(ctx context.Context, a *app) error {
	since, err := timeOrAge("--since", i.Since)
	if err != nil {
		return err
	}
	c, err := i.connectProject(ctx, &i.Project)
	if err != nil {
		return err
	}
	found, err := c.Insights(ctx, i.Project, since)
	if err != nil {
		return err
	}
	if i.forPrograms() {
		return i.write(a, found.Raw)
	}
	return i.table(a, listing{
		none:   "no insights; nobody has asked a question",
		header: []string{"KIND", "OF", "DETAIL", "RUNS", "RUN"},
		rows:   i.rows(found),
		spare:  []string{"DETAIL", "RUN"},
	})
}

// rows returns the lines of the table, kind by kind.
func (i insightsCmd) rows(found client.Insights) (rows [][]string) {
	add := func(kind string, list []client.Insight, words func(client.Insight) (of, detail string)) {
		if i.Limit > 0 {
			list = list[:min(len(list), int(i.Limit))]
		}
		for _, one := range list {
			of, detail := words(one)
			run := ""
			if len(one.Runs) > 0 {
				run = one.Runs[0]
			}
			rows = append(rows, []string{kind, oneLine(of), oneLine(detail), fmt.Sprint(len(one.Runs)), run})
		}
	}
	add("unanswered", found.Unanswered, func(one client.Insight) (string, string) { return one.Question, one.Reason })
	add("low rated", found.LowRated, func(one client.Insight) (string, string) {
		var comments []string
		for _, rating := range one.Ratings {
			comments = append(comments, rating.Comment)
		}
		return one.Question, strings.Join(comments, "; ")
	})
	add("question", found.Questions, func(one client.Insight) (string, string) { return one.Question, "" })
	add("contradiction", found.Contradicting, func(one client.Insight) (string, string) { return one.First.Text, one.Second.Text })
	add("stale", found.Stale, func(one client.Insight) (string, string) { return one.Name, one.Reason })
	add("uncited", found.Uncited, func(one client.Insight) (string, string) { return one.Name, one.Text })
	add("unused", found.Unused, func(one client.Insight) (string, string) { return one.Name, "" })
	add("day", found.Days, func(one client.Insight) (string, string) {
		detail := fmt.Sprintf("%d questions", one.Asked)
		if one.Median != nil {
			detail += fmt.Sprintf(", median %.1f s", *one.Median)
		}
		if one.Cost != nil {
			detail += fmt.Sprintf(", cost %.4f", *one.Cost)
		}
		return one.Day, detail
	})
	return rows
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
