package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// peerScript reads PDFs with another library.
//
//go:embed pdf_peer.py
var peerScript string

// pythonVariable names the Python that has the libraries.
const pythonVariable = "CAIRN_BENCH_PYTHON"

// errNoPeer reports that a library is not installed.
var errNoPeer = errors.New("it is not compared")

// readWith reads files with a library of Python, in as many processes as Cairn has.
func readWith(ctx context.Context, library string, files []string) (readingSpeed, error) {
	python := cmp.Or(os.Getenv(pythonVariable), "python3")
	if out, err := exec.CommandContext(ctx, python, "-c", "import "+library).CombinedOutput(); err != nil {
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		return readingSpeed{}, fmt.Errorf("%w with %s, which %s cannot import (%s): set %s to a Python that has it",
			errNoPeer, library, python, lines[len(lines)-1], pythonVariable)
	}
	arguments := append([]string{"-c", peerScript, library, strconv.Itoa(readers)}, files...)
	cmd := exec.CommandContext(ctx, python, arguments...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return readingSpeed{}, fmt.Errorf("read PDFs with %s: %w", library, err)
	}
	var answer struct {
		Version       string
		Pages, Failed int
		Seconds, CPU  float64
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return readingSpeed{}, fmt.Errorf("read PDFs with %s: %w", library, err)
	}
	return readingSpeed{version: answer.Version, pages: answer.Pages, failed: answer.Failed, took: answer.Seconds, cpu: answer.CPU}, nil
}
