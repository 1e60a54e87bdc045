package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairn-rag/cairn/starter/terminal"
)

// builtBinary returns the binary that the transcripts run, "" = the commands run in this
// process, and the version that it prints.
var builtBinary = sync.OnceValues(func() (path, version string) {
	if path = os.Getenv("CAIRN_TEST_BINARY"); path == "" {
		return "", versionName()
	}
	printed, err := exec.Command(path, "version", "-o", "json").Output()
	var about struct{ Version string }
	if err == nil {
		err = json.Unmarshal(printed, &about)
	}
	if err != nil {
		panic("ask " + path + " for its version: " + err.Error())
	}
	return path, about.Version
})

// piped returns what a command writes to a standard output that is no terminal.
func piped(t *testing.T, args []string) (string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	binary, version := builtBinary()
	if binary == "" {
		code := run(context.Background(), &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}, args)
		return masked(out.String(), version), code
	}
	code := execute(t, binary, "", args, &out, &errs)
	return masked(out.String(), version), code
}

// onTerminal returns what a command leaves on a terminal of so many columns.
func onTerminal(t *testing.T, width int, noColour string, args []string) (string, int) {
	t.Helper()
	file, read := openTerminal(t, width)
	binary, version := builtBinary()
	var code int
	if binary == "" {
		screen := terminal.OnScreen(file, noColour)
		code = run(context.Background(), &app{stdin: strings.NewReader(""), stdout: screen, stderr: screen, bar: file}, args)
	} else {
		code = execute(t, binary, noColour, args, file, file)
	}
	return masked(settled(t, read(), width), version), code
}

// execute runs the built binary without the variables of this process that configure it.
func execute(t *testing.T, binary, noColour string, args []string, out, errs io.Writer) (code int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Stdout, command.Stderr = out, errs
	command.Env = append(slices.DeleteFunc(os.Environ(), func(set string) bool {
		return strings.HasPrefix(set, "CAIRN_") || strings.HasPrefix(set, "NO_COLOR=")
	}), "NO_COLOR="+noColour)
	if err := command.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			t.Fatal(err)
		}
	}
	return command.ProcessState.ExitCode()
}

// settled returns what written text leaves on a terminal. A line that is drawn again, such
// as a progress bar, must not be wider than the terminal: its wrapped parts stay.
func settled(t *testing.T, written string, width int) string {
	t.Helper()
	lines := strings.Split(written, "\n")
	for i, line := range lines {
		parts := strings.Split(strings.TrimSuffix(line, "\r"), "\r")
		if len(parts) == 1 {
			continue
		}
		shown := ""
		for n, part := range parts {
			if rest, erased := strings.CutPrefix(part, "\x1b[K"); erased {
				part, shown = rest, ""
			}
			if drawn := ansi.StringWidth(part); n+1 < len(parts) && drawn > width {
				t.Errorf("%q, which is drawn again, has %d columns on a terminal of %d", part, drawn, width)
			}
			shown = part + ansi.TruncateLeft(shown, ansi.StringWidth(part), "")
		}
		lines[i] = strings.TrimRight(shown, " ")
	}
	return strings.Join(lines, "\n")
}
