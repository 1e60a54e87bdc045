package main

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type configCmd struct {
	Config string `type:"path" placeholder:"FILE" help:"The configuration file. Default: the one that CAIRN_CONFIG names."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is the command's example.
func (configCmd) Help() string {
	return "What is printed is a configuration file: with CAIRN_CONFIG it gives the same configuration again, " +
		"once the secrets that are masked (********) are written in their places.\n\nExample:\n\n    cairn config --config cairn.yaml"
}

// Run prints the configuration that the server's commands would run with.
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
