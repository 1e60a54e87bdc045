package main

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type configCmd struct {
	Config string `type:"path" placeholder:"FILE" help:"The configuration file. Default: the file in CAIRN_CONFIG."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help returns the command's details and an example.
func (configCmd) Help() string {
	return "The output is a configuration file: loaded with CAIRN_CONFIG it results in the same configuration, " +
		"after the masked secrets (********) are filled in.\n\nExample:\n\n    cairn config --config cairn.yaml"
}

// Run prints the configuration that cairn up would use.
func (c configCmd) Run(a *app) error {
	loaded, err := config.Load(config.Options{File: c.Config, Environ: os.Environ()})
	if err != nil {
		return usageError{err.Error()}
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(a.stderr, terminal.Clean(warning))
	}
	text := loaded.Masked()
	if !c.JSON {
		_, err := fmt.Fprint(a.stdout, text)
		return err
	}
	var values any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		return fmt.Errorf("read the configuration back: %w", err)
	}
	return terminal.JSON(a.stdout, values)
}
