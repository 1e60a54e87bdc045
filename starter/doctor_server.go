package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/advice"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

const (
	// doctorPatience bounds each of the checks that ask a server.
	doctorPatience = 30 * time.Second
	// clockTolerance is the difference of two clocks above which signed links and tokens
	// fail.
	clockTolerance = 5 * time.Second
)

// checkServer checks the dependencies, the version, the clock and the queues of the
// server. The first finding tells whether it is ready.
func (d doctorCmd) checkServer(ctx context.Context, c *client.Client) (client.Readiness, []finding) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	state, err := c.Details(ctx)
	if err != nil {
		return state, []finding{{"server", findingBad, err.Error(), "start it with cairn up, or name it with --url"}}
	}
	var found []finding
	for _, dependency := range state.Dependencies {
		if dependency.Status != "up" {
			found = append(found, finding{"server", findingBad, dependency.Name + " is down", advice.OnService(dependency.Name)})
		}
	}
	if len(found) == 0 && state.Status != "ready" {
		found = []finding{{"server", findingBad, "the server is stopping", ""}}
	}
	if len(found) == 0 {
		found = []finding{{"server", findingOK, fmt.Sprintf("ready, with %s", terminal.Count(len(state.Dependencies), "service")), ""}}
	}
	if state.IndexIncomplete {
		found = append(found, finding{"index", findingBad, advice.LostIndex, "cairn rebuild-index"})
	}
	if p := state.DiskProblem; p != nil {
		refused := "uploads"
		if p.RefusesQuestions {
			refused = "uploads and questions"
		}
		detail := fmt.Sprintf("it is %s, so %s are refused: %s free, %s needed", strings.ReplaceAll(p.Code, "_", "-"), refused, knowledge.SizeText(p.FreeBytes), knowledge.SizeText(p.NeededBytes))
		found = append(found, finding{"uploads", findingBad, "the disk of the server: " + detail, p.Message})
	}
	found = append(found, lastCalls(state.Models)...)
	return state, append(found, d.readMetrics(ctx)...)
}

// lastCalls names the endpoints whose last call by the server failed.
func lastCalls(calls []client.ModelCall) []finding {
	var found []finding
	for _, m := range calls {
		if m.Outcome != "ok" {
			detail := fmt.Sprintf("the server's last call of %s, %s ago: %s", m.Provider, terminal.Duration(time.Since(m.At)), m.Outcome)
			found = append(found, finding{m.Kind + " calls", findingNote, detail, ""})
		}
	}
	return found
}

// readMetrics reads the version, the clock and the backlog of the queues from /metrics.
func (d doctorCmd) readMetrics(ctx context.Context) []finding {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.URL, "/")+"/metrics", nil)
	if err != nil {
		return []finding{{"metrics", findingNote, err.Error(), ""}}
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return []finding{{"metrics", findingNote, err.Error(), ""}}
	}
	defer answer.Body.Close()
	found, queues := []finding{checkClock(answer.Header)}, 0
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch {
		case strings.HasPrefix(name, "cairn_build_info{"):
			found = append(found, checkVersion(label(lines.Text(), "version")))
		case strings.HasPrefix(name, "cairn_queue_tasks{"):
			if queues++; value != "0" {
				found = append(found, finding{"queue " + label(name, "queue"), findingNote, value + " tasks wait for a worker", ""})
			}
		}
	}
	if queues > 0 && !slices.ContainsFunc(found, func(f finding) bool { return strings.HasPrefix(f.Check, "queue ") }) {
		found = append(found, finding{"queues", findingOK, fmt.Sprintf("no task waits in %s", terminal.Count(queues, "queue")), ""})
	}
	return found
}

// label returns the value of a label in a line of metrics.
func label(line, name string) string {
	_, after, _ := strings.Cut(line, "{"+name+"=\"")
	if after == "" {
		_, after, _ = strings.Cut(line, ","+name+"=\"")
	}
	value, _, _ := strings.Cut(after, "\"")
	return value
}

func checkVersion(server string) finding {
	if server != versionName() {
		return finding{"version", findingNote, fmt.Sprintf("the server is %s, this command %s", server, versionName()), "use the same version"}
	}
	return finding{"version", findingOK, server, ""}
}

func checkClock(h http.Header) finding {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return finding{"clock", findingNote, "the server does not tell its time", ""}
	}
	if apart := time.Since(at).Abs(); apart > clockTolerance {
		return finding{"clock", findingBad, "the clocks of the server and of this machine are " + terminal.Duration(apart) + " apart", "synchronize them (NTP)"}
	}
	return finding{"clock", findingOK, "the server's clock agrees with this machine's", ""}
}
