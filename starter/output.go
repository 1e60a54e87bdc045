package main

import (
	"fmt"
	"io"
	"time"

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
	Output string `short:"o" enum:"table,json,yaml" default:"table" help:"The format: table, json or yaml. In json and yaml the field names are in snake_case, and a list is in data."`
	JSON   bool   `name:"json" help:"Print JSON with the field names of the API."`
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
	Wide bool `help:"Print all columns in full width, even on a narrow terminal."`
}

// listing is a list as a table.
type listing struct {
	none   string // what is shown in place of a table without rows
	header []string
	rows   [][]string
	spare  []string // columns that a narrow terminal does without, the first one first
}

// table prints a list. That it is empty is shown on stderr, where no program reads it.
func (f listFlags) table(a *app, l listing) error {
	if len(l.rows) == 0 {
		_, err := fmt.Fprintln(a.stderr, terminal.Wrapped(a.stderr, l.none))
		return err
	}
	return terminal.Table(f.screen(a), l.header, l.rows, l.spare...)
}

// screen returns where the list is printed.
func (f listFlags) screen(a *app) io.Writer {
	if f.Wide {
		return terminal.Wide(a.stdout)
	}
	return a.stdout
}

// when returns a time for a row of the list.
func (f listFlags) when(a *app, t time.Time) string { return terminal.When(f.screen(a), t) }
