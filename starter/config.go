package main

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type configCmd struct {
	Config  string `type:"path" placeholder:"FILE" help:"The configuration file. Default: the file in CAIRN_CONFIG."`
	Explain string `placeholder:"KEY" help:"Print the meaning of a key, its value, and the source of the value."`
	outputFlags
}

// Help returns the command's details and an example.
func (configCmd) Help() string {
	return "The output is a valid configuration file. Fill in the masked secrets (********) before you use it. " +
		"\n\nExample:\n\n    cairn config --config cairn.yaml\n    cairn config --explain limits.file_bytes"
}

// Run prints the configuration that cairn up would use.
func (c configCmd) Run(a *app) error {
	options := config.Options{File: c.Config, Environ: os.Environ()}
	if c.Explain != "" {
		return c.explain(a, options)
	}
	loaded, err := config.Load(options)
	if err != nil {
		return usageError{err.Error()}
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(a.stderr, terminal.Clean(warning))
	}
	text := loaded.Masked()
	if !c.forPrograms() || c.Output == outputYAML && !c.JSON { // the file is YAML
		_, err := fmt.Fprint(a.stdout, text)
		return err
	}
	var values any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		return fmt.Errorf("read the configuration back: %w", err)
	}
	return terminal.JSON(a.stdout, values)
}

// explain describes one key.
func (c configCmd) explain(a *app, options config.Options) error {
	e, err := config.Explain(c.Explain, options)
	if err != nil {
		return usageError{err.Error()}
	}
	if c.forPrograms() {
		return c.write(a, e)
	}
	return terminal.Fields(a.stdout, "key", e.Key, "value", e.Value, "meaning", e.Meaning, "variable", e.Variable, "from", e.From)
}
