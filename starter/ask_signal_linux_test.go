package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestCtrlC sends SIGINT to a process that asks, on a terminal and in a pipe: once, and a
// second time while the server does not answer the request to cancel.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ onTerminal, twice bool }{
		"once_in_a_pipe": {}, "once_on_a_terminal": {onTerminal: true},
		"twice_in_a_pipe": {twice: true}, "twice_on_a_terminal": {onTerminal: true, twice: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, canceled := make(chan struct{}, 1), make(chan struct{}, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/cancel") {
					asked <- struct{}{}
					hold(begunAnswer)(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice the end of the connection
				canceled <- struct{}{}
				if test.twice {
					<-r.Context().Done()
				}
			}))
			t.Cleanup(server.Close)
			command := exec.CommandContext(t.Context(), os.Args[0], "ask", "why", "not", "--url", server.URL, "--key", "k")
			command.Env = append(os.Environ(), "NO_COLOR=1")
			shown := runOn(t, command, test.onTerminal, func() {
				<-asked
				interrupt(t, command)
				<-canceled
				if test.twice {
					interrupt(t, command)
				}
			})
			status := command.ProcessState.Sys().(syscall.WaitStatus)
			switch {
			case test.twice && status.Signal() != syscall.SIGINT:
				t.Errorf("ended with %v, want by the second signal; it showed %q", command.ProcessState, shown)
			case !test.twice && (status.ExitStatus() != exitInterrupted || !strings.Contains(shown, "Cancelled the run run-1.\ncairn: interrupted\n")):
				t.Errorf("ended with %v, showed %q", command.ProcessState, shown)
			}
		})
	}
}

// runOn runs a command, on a terminal or in a pipe, and then what happens meanwhile. It
// returns what the command shows.
func runOn(t *testing.T, command *exec.Cmd, onTerminal bool, meanwhile func()) string {
	t.Helper()
	var pipe strings.Builder
	command.Stdout, command.Stderr = &pipe, &pipe
	end := pipe.String
	if onTerminal {
		var terminal *os.File
		terminal, end = openTerminal(t, 80)
		command.Stdout, command.Stderr = terminal, terminal
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	meanwhile()
	if err := command.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			t.Fatal(err)
		}
	}
	return end()
}

func interrupt(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
}
