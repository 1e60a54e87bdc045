package main

import (
	"fmt"

	"github.com/cairn-rag/cairn/starter/terminal"
)

// Values of --output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// outputFlags choose the form of what a command prints. Both flags print all fields. --json
// has precedence: it is older, and scripts read the names of the API in it.
type outputFlags struct {
	Output string `short:"o" enum:"table,json,yaml" default:"table" help:"table, json or yaml. json and yaml have fields in snake_case, and lists in data."`
	JSON   bool   `name:"json" help:"Print JSON with the names that the API has for the fields."`
}

// forPrograms reports whether the output is JSON or YAML.
func (f outputFlags) forPrograms() bool {
	return f.JSON || f.Output == outputJSON || f.Output == outputYAML
}

// write prints v as JSON or YAML.
func (f outputFlags) write(a *app, v any) error {
	switch {
	case f.JSON:
		return terminal.JSON(a.stdout, v)
	case f.Output == outputYAML:
		return terminal.YAML(a.stdout, v)
	}
	shaped, err := terminal.Shape(v)
	if err != nil {
		return err
	}
	return terminal.JSON(a.stdout, shaped)
}

// writeItem prints one of the many values of a command that follows something: a line of
// JSON, or a document of YAML.
func (f outputFlags) writeItem(a *app, v any) error {
	switch {
	case f.JSON:
		return terminal.JSONLine(a.stdout, v)
	case f.Output == outputYAML:
		if _, err := fmt.Fprintln(a.stdout, "---"); err != nil {
			return err
		}
		return terminal.YAML(a.stdout, v)
	}
	shaped, err := terminal.Shape(v)
	if err != nil {
		return err
	}
	return terminal.JSONLine(a.stdout, shaped)
}

// listFlags are the flags of commands that list things.
type listFlags struct {
	clientFlags
	Wide bool `help:"Print every column in full, however narrow the terminal is."`
}

// table prints a list. On a narrow terminal the columns in spare are left out, the first
// one first.
func (f listFlags) table(a *app, header []string, rows [][]string, spare ...string) error {
	out := a.stdout
	if f.Wide {
		out = terminal.Wide(out)
	}
	return terminal.Table(out, header, rows, spare...)
}
