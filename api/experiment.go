package api

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// cellView is a configuration of an experiment as clients see it.
type cellView struct {
	Cell     int                        `json:"cell" doc:"1 = the saved settings, with which the others are compared"`
	Values   map[string]json.RawMessage `json:"values" doc:"The settings of the grid by their full names; null: the setting has no value"`
	Override json.RawMessage            `json:"projectConfigOverride,omitempty" doc:"The body of a PATCH of the project that makes this configuration the saved one"`

	Scores      map[string]evaluate.Estimate `json:"scores" doc:"As those of the evaluation"`
	Usage       knowledge.Usage              `json:"usage" doc:"Of its answers and of the judge; of an evaluation that has ended"`
	Verdict     evaluate.Verdict             `json:"verdict,omitempty" enum:"better,worse,undecided" doc:"Beside the saved settings, without latency and tokens; not before the end"`
	Differences []evaluate.Difference        `json:"differences,omitempty" doc:"To the saved settings. Holm's correction holds for all measures of all configurations"`
}

// addCells lays the cells of a grid over the snapshot of an evaluation. A combination with the same
// effect as the saved settings, or as an earlier one, is left out.
func (er *evaluationRoutes) addCells(ctx context.Context, p knowledge.Principal, in *evaluationInput, snapshot *record.Evaluation) error {
	if len(in.Body.Grid) == 0 {
		return nil
	}
	if len(in.Body.Override) > 0 {
		return knowledge.Invalid("body.grid", "cannot be with projectConfigOverride: a value to try for all cells is a list of one")
	}
	cells, err := question.Grid(in.Body.Grid).Cells()
	if err != nil {
		return err
	}
	first := record.Cell{Values: map[string]json.RawMessage{}}
	for name := range cells[0].Values {
		saved, err := question.SettingOf(snapshot.Question.Config, name)
		if err != nil {
			return err
		}
		if first.Values[name], err = json.Marshal(saved); err != nil {
			return fmt.Errorf("encode the setting %s: %w", name, err)
		}
	}
	snapshot.Settings.Cells = []record.Cell{first}
	known := []knowledge.ProjectConfig{snapshot.Question.Config}
	for _, cell := range cells {
		template, err := er.cellQuestion(ctx, p, in.Body.ProjectID, cell)
		if err != nil {
			return err
		}
		if containsConfig(known, template.Config) {
			continue
		}
		values := map[string]json.RawMessage{}
		for name, value := range cell.Values {
			if values[name], err = json.Marshal(value); err != nil {
				return fmt.Errorf("encode the setting %s: %w", name, err)
			}
		}
		known = append(known, template.Config)
		snapshot.Settings.Cells = append(snapshot.Settings.Cells, record.Cell{Values: values, Override: string(cell.Override)})
		snapshot.Others = append(snapshot.Others, template)
	}
	if len(snapshot.Others) == 0 {
		return knowledge.Invalid("body.grid", "has only the saved settings")
	}
	return nil
}

// containsConfig reports whether one of some configurations is the same as another.
func containsConfig(list []knowledge.ProjectConfig, config knowledge.ProjectConfig) bool {
	for _, one := range list {
		if reflect.DeepEqual(one, config) {
			return true
		}
	}
	return false
}

// cellQuestion returns what the questions of a cell begin with.
func (er *evaluationRoutes) cellQuestion(ctx context.Context, p knowledge.Principal, project string, cell question.GridCell) (knowledge.Request, error) {
	var checked knowledge.ProjectConfig
	if err := er.edge.DecodeJSON(cell.Override, &checked); err != nil {
		return knowledge.Request{}, atGrid(err)
	}
	_, template, err := er.questions.Evaluated(ctx, p, project, cell.Override)
	return template, atGrid(err)
}

// atGrid returns an error whose fields are those of a grid in place of an override.
func atGrid(err error) error {
	e := knowledge.AsError(err)
	if err == nil || len(e.Fields) == 0 {
		return err
	}
	fields := make([]knowledge.Field, 0, len(e.Fields))
	for _, f := range e.Fields {
		f.Location = "body.grid." + strings.TrimPrefix(strings.TrimPrefix(f.Location, "body."), "projectConfigOverride.")
		fields = append(fields, f)
	}
	return knowledge.InvalidFields(fields)
}

// viewCells shows the configurations of an experiment, nil of another evaluation.
func viewCells(cells []record.Cell, reports []record.CellReport) []cellView {
	var shown []cellView
	for i, cell := range cells {
		view := cellView{Cell: i + 1, Values: cell.Values, Override: json.RawMessage(cell.Override), Scores: map[string]evaluate.Estimate{}}
		if i < len(reports) {
			report := reports[i]
			for measure, estimate := range report.Scores {
				view.Scores[string(measure)] = estimate
			}
			view.Usage, view.Verdict, view.Differences = report.Usage, report.Comparison.Verdict, report.Comparison.Differences
		}
		shown = append(shown, view)
	}
	return shown
}

// ofCell returns the items of a cell, 1 = first.
func ofCell(items []store.Evaluated, cell int) []store.Evaluated {
	var list []store.Evaluated
	for _, i := range items {
		if i.Cell == cell {
			list = append(list, i)
		}
	}
	return list
}
