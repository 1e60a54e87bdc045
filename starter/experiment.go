package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// parseGrid reads the values to try of settings: SETTING=VALUE,VALUE or SETTING=[JSON, JSON].
func parseGrid(flags []string) (map[string][]any, error) {
	grid := map[string][]any{}
	for _, flag := range flags {
		name, text, ok := strings.Cut(flag, "=")
		if !ok || name == "" || text == "" {
			return nil, wrongUse("--grid: %q is not SETTING=VALUE,VALUE", flag)
		}
		var values []any
		if strings.HasPrefix(text, "[") {
			if err := json.Unmarshal([]byte(text), &values); err != nil {
				return nil, wrongUse("--grid %s: the list is not JSON: %v", name, err)
			}
		} else {
			for one := range strings.SplitSeq(text, ",") {
				values = append(values, settingValue(strings.TrimSpace(one)))
			}
		}
		grid[name] = append(grid[name], values...)
	}
	return grid, nil
}

// settingValue reads a value as JSON; one that is not JSON is a string.
func settingValue(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// writeExperiment prints the configurations of an experiment as a table, and what differs from the
// saved settings beyond noise.
func writeExperiment(a *app, e client.Evaluation) error {
	header := []string{"CELL", "SETTINGS", "SCORE", "CONTEXT", "FAITHFUL", "RECALL", "SECONDS", "TOKENS", "COST", "VERDICT"}
	measures := []string{"score", "context", "faithfulness", "recall10", "latency", "tokens"}
	rows := make([][]string, 0, len(e.Cells))
	for i, cell := range e.Cells {
		row := []string{strconv.Itoa(cell.Cell), cellName(cell)}
		for _, measure := range measures {
			text := mean(client.Evaluation{Scores: cell.Scores}, measure)
			if measure == "tokens" {
				text, _, _ = strings.Cut(text, ".")
			}
			row = append(row, text)
		}
		verdict := cell.Verdict
		if i == 0 {
			verdict = "saved"
		}
		rows = append(rows, append(row, cost(cell), verdict))
	}
	fmt.Fprintf(a.stdout, "%s: %s, %d of %d answers judged by %s\n\n", e.TestSetName, terminal.Count(len(e.Cells), "configuration"), e.Progress.Judged, e.Progress.Total, e.Judge)
	header, rows = withoutEmpty(header, rows)
	if err := terminal.Table(a.stdout, header, rows, "RECALL", "CONTEXT", "FAITHFUL", "TOKENS", "COST", "SECONDS"); err != nil {
		return err
	}
	decided, err := writeDecided(a, e.Cells)
	if err != nil {
		return err
	}
	for _, warning := range e.Warnings {
		fmt.Fprintf(a.stdout, "\nwarning: %s\n", warning)
	}
	if decided {
		fmt.Fprintf(a.stdout, "\nmake a configuration the saved one with: cairn evaluations apply %s CELL\n", e.ID)
	}
	return nil
}

// withoutEmpty returns a table without the columns in which no row has a value.
func withoutEmpty(header []string, rows [][]string) ([]string, [][]string) {
	kept, shown := []string{}, make([][]string, len(rows))
	for column, title := range header {
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[column] != "" }) {
			continue
		}
		kept = append(kept, title)
		for i, row := range rows {
			shown[i] = append(shown[i], row[column])
		}
	}
	return kept, shown
}

// cost returns what a configuration cost, "" if that is not known.
func cost(cell client.Cell) string {
	if cell.Usage.Currency == "" {
		return ""
	}
	return strconv.FormatFloat(cell.Usage.Cost, 'f', -1, 64) + " " + cell.Usage.Currency
}

// cellName names a configuration by the values of its settings.
func cellName(cell client.Cell) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(cell.Values)) {
		value := string(cell.Values[name])
		if text := ""; json.Unmarshal(cell.Values[name], &text) == nil && text != "" {
			value = terminal.Shorten(text, 40)
		}
		parts = append(parts, strings.TrimPrefix(strings.TrimPrefix(name, "ai."), "retrieval.")+"="+value)
	}
	return strings.Join(parts, " ")
}

// writeDecided prints the differences that are not noise, and reports whether a configuration is
// better.
func writeDecided(a *app, cells []client.Cell) (better bool, err error) {
	var lines []string
	compared := 0
	for _, cell := range cells[1:] {
		var differences []evaluate.Difference
		if len(cell.Differences) > 0 {
			if err := json.Unmarshal(cell.Differences, &differences); err != nil {
				return false, fmt.Errorf("decode the differences of cell %d: %w", cell.Cell, err)
			}
		}
		better = better || cell.Verdict == string(evaluate.Better)
		compared += len(differences)
		for _, d := range differences {
			if d.Verdict != evaluate.Undecided {
				lines = append(lines, fmt.Sprintf("  cell %d  %-13s %+.3f (%+.3f to %+.3f), p %.4f: %s", cell.Cell, d.Measure, d.Mean, d.Low, d.High, d.Holm, d.Verdict))
			}
		}
	}
	switch {
	case compared == 0:
	case len(lines) == 0:
		_, err = fmt.Fprintf(a.stdout, "\nof %d differences to the saved settings none is beyond noise; more questions or repeats may decide\n", compared)
	default:
		_, err = fmt.Fprintf(a.stdout, "\nbeyond noise, after Holm's correction for %d differences:\n%s\n", compared, strings.Join(lines, "\n"))
	}
	return better, err
}

type evaluationsApplyCmd struct {
	clientFlags
	ID   string `arg:"" help:"The experiment."`
	Cell int    `arg:"" help:"The number of the configuration in its table."`
}

// Help returns the command's example.
func (evaluationsApplyCmd) Help() string {
	return "The settings that the experiment tried are changed; the other settings of the project stay. This needs the permission to change projects.\n\nExample:\n\n" +
		"    cairn evaluations apply 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 3"
}

// Run makes a configuration of an experiment the saved one of its project.
func (y evaluationsApplyCmd) Run(ctx context.Context, a *app) error {
	c, err := y.connectEvaluation(ctx, &y.ID)
	if err != nil {
		return err
	}
	e, err := c.Evaluation(ctx, y.ID, "", 1)
	if err != nil {
		return err
	}
	if y.Cell < 2 || y.Cell > len(e.Cells) {
		return wrongUse("the evaluation has no configuration %d to apply: they are 2 to %d, and 1 is the saved one", y.Cell, len(e.Cells))
	}
	cell := e.Cells[y.Cell-1]
	var change client.Project
	if err := json.Unmarshal(cell.Override, &change); err != nil {
		return fmt.Errorf("decode configuration %d: %w", y.Cell, err)
	}
	change.ID = e.ProjectID
	saved, err := c.SaveProject(ctx, change)
	if err != nil {
		return err
	}
	if y.forPrograms() {
		return y.write(a, saved)
	}
	_, err = fmt.Fprintf(a.stdout, "project %s has %s\n", saved.ID, cellName(cell))
	return err
}
