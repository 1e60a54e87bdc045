package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cancelling streams an answer that does not end, and answers requests to cancel its run
// with a status. It sends the paths of those to canceled.
func cancelling(stream http.HandlerFunc, status int, canceled chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/cancel") {
			stream(w, r)
			return
		}
		canceled <- r.URL.Path
		w.WriteHeader(status)
	})
}

const begunAnswer = `id: 1
event: runStarted
data: {"runId":"run-1"}

id: 2
event: apiMessageChunk
data: {"chunk":{"data":"Because"}}

`

func TestAnInterruptedQuestionIsCancelled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		status int
		says   string
	}{
		{"at_once", http.StatusAccepted, "Cancelled the run run-1.\ncairn: interrupted\n"},
		{"and_says_where_that_failed", http.StatusServiceUnavailable,
			"The run could not be cancelled (503: Service Unavailable (the answer is not from a Cairn server)). To try again: cairn runs cancel run-1\ncairn: interrupted\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			canceled := make(chan string, 1)
			server := httptest.NewServer(cancelling(hold(begunAnswer), test.status, canceled))
			t.Cleanup(server.Close)
			var stderr bytes.Buffer
			code := run(ctx, &app{stdout: firstWrite{cancel}, stderr: &stderr}, []string{"ask", "why?", "--url", server.URL, "--key", "k"})
			if diff := cmp.Diff(test.says, stderr.String()); code != exitInterrupted || diff != "" {
				t.Errorf("exit code %d, stderr (-want +got):\n%s", code, diff)
			}
			if got := <-canceled; got != "/workspaces/default/runs/run-1/cancel" {
				t.Errorf("cancelled %s", got)
			}
		})
	}
}

func TestAQuestionThatIsInterruptedWhileItIsSentIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan string, 1)
	server := httptest.NewServer(cancelling(func(w http.ResponseWriter, r *http.Request) {
		cancel() // the server has the question, and the client does not yet know its run
		<-ctx.Done()
		hold(begunAnswer)(w, r)
	}, http.StatusAccepted, canceled))
	t.Cleanup(server.Close)
	var stdout, stderr bytes.Buffer
	code := run(ctx, &app{stdout: &stdout, stderr: &stderr}, []string{"ask", "why?", "--url", server.URL, "--key", "k"})
	if code != exitInterrupted || len(canceled) != 1 {
		t.Errorf("exit code %d, %d runs cancelled, stderr %q", code, len(canceled), stderr.String())
	}
}

func TestARunThatIsWatchedGoesOn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan string, 1)
	server := httptest.NewServer(cancelling(hold(begunAnswer), http.StatusAccepted, canceled))
	t.Cleanup(server.Close)
	var stderr bytes.Buffer
	code := run(ctx, &app{stdout: firstWrite{cancel}, stderr: &stderr}, []string{"runs", "watch", "run-1", "--url", server.URL, "--key", "k"})
	if code != exitInterrupted || len(canceled) != 0 || stderr.String() != "cairn: interrupted\n" {
		t.Errorf("exit code %d, %d runs cancelled, stderr %q", code, len(canceled), stderr.String())
	}
}
