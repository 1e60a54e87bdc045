package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// cairn runs a command that must succeed, and returns what it prints.
func cairn(t *testing.T, env []string, args ...string) string {
	t.Helper()
	code, out, said := command(t, env, args...)
	if code != 0 {
		t.Fatalf("cairn %s: exit code %d, %s%s", strings.Join(args, " "), code, out, said)
	}
	return out
}

// TestOperator has documents stuck for several causes. One command names the document,
// its stage, the cause and the next step, and one command is that step. The table in
// docs/runbook.md has the same rows.
func TestOperator(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	endpoint := newGate(t, m.URL())
	s := start(t, at(endpoint.url)...)
	env := []string{"CAIRN_URL=" + s.child.Endpoints().API, "CAIRN_KEY=" + s.child.Key()}
	// The wait after so many tries, 32 s, is long enough for all commands below: there is no
	// cause to show while an attempt is under way.
	const tries = 8
	const probes = 3 // the one after them comes 20 s later
	down := slices.Repeat([]modeltest.Reply{modeltest.Fail(http.StatusServiceUnavailable)}, tries)
	waitsLong := func(d client.Document) bool { return d.Waiting != nil && d.Waiting.Attempt >= tries }
	for _, test := range []struct {
		name    string
		shut    bool // nothing listens at the endpoint
		replies []modeltest.Reply
		stuck   func(d client.Document) bool
		says    []string
		fix     []string
	}{
		{
			"endpoint-down", true, nil, waitsLong,
			[]string{"embed", "of 60, next", "cannot be reached (connection refused)"}, []string{"retry", "--all", "--code", "provider_failed"},
		},
		{
			"endpoint-failing", false, down, waitsLong,
			[]string{"embed", "of 60, next", "overloaded or failing (status 503)"}, []string{"retry", "--all", "--code", "provider_failed"},
		},
		{
			"limit-of-an-hour", false, slices.Repeat([]modeltest.Reply{modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "3600")}, probes),
			func(d client.Document) bool { return d.Waiting != nil && time.Until(d.Waiting.NextAt) > 15*time.Second },
			[]string{"embed", "first attempt of 60 in", "is limiting requests and asked for a pause"}, []string{"retry", "--all", "--code", "provider_failed"},
		},
		{
			"wrong-key", false, []modeltest.Reply{modeltest.Fail(http.StatusUnauthorized)},
			func(d client.Document) bool { return d.Error != nil },
			[]string{"embed", "provider_failed", "refused our credentials", "key_env"}, []string{"retry", "--all", "--code", "provider_failed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.shut {
				endpoint.shut()
			}
			m.ScriptEmbeddings(test.replies...)
			a := s.upload(t, test.name, "The northern pier has a lighthouse, says "+test.name+".")
			await(t, 3*time.Minute, a.ID+" is stuck", func(context.Context) error {
				if !test.stuck(s.document(t, a.ID)) {
					return errors.New("it is not")
				}
				return nil
			})
			shown := cairn(t, env, "documents", "show", a.ID)
			for _, want := range append(test.says, test.name, "next step", "cairn documents retry "+a.ID) {
				if !strings.Contains(shown, want) {
					t.Errorf("documents show does not say %q:\n%s", want, shown)
				}
			}
			if listed := cairn(t, env, "documents", "list", "--wide"); !strings.Contains(listed, test.says[len(test.says)-1]) {
				t.Errorf("documents list does not say why:\n%s", listed)
			}
			if _, found, _ := command(t, env, "doctor"); !strings.Contains(found, test.name+" ") || !strings.Contains(found, test.says[len(test.says)-1]) {
				t.Errorf("doctor does not say why:\n%s", found)
			}
			if test.shut {
				endpoint.open()
			}
			cairn(t, env, append([]string{"documents"}, test.fix...)...)
			await(t, time.Minute, a.ID+" is published", func(context.Context) error {
				if d := s.document(t, a.ID); d.Status != knowledge.StatusPublished {
					return errors.New("it is " + string(d.Status))
				}
				return nil
			})
		})
	}

	t.Run("hostile-file", func(t *testing.T) { showsHostileFile(t, s, env) })
	t.Run("another-model", func(t *testing.T) { anotherModel(t, s, m, env) })
	t.Run("doctor finds nothing more", func(t *testing.T) {
		if out := cairn(t, env, "documents", "retry", "--all"); out != "no document matches\n" {
			t.Errorf("documents retry says %q", out)
		}
		_, out, _ := command(t, env, "doctor") // the exit code also depends on this machine's disk
		for _, want := range []string{"ready, with", "none failed, none waits", "clock"} {
			if !strings.Contains(out, want) {
				t.Errorf("doctor does not say %q:\n%s", want, out)
			}
		}
	})
}

func showsHostileFile(t *testing.T, s *server, env []string) {
	sent := s.sendFiles(t, nil, file{"hostile.pdf", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0xff, 0x00}, 500)...)})[0]
	d := s.ended(t, sent)
	ran := cairn(t, env, "runs", "show", sent.RunID)
	for _, want := range []string{d.ID, "extract", "corrupt: ", "next step", "cairn documents remove " + d.ID} {
		if !strings.Contains(ran, want) {
			t.Errorf("runs show does not say %q:\n%s", want, ran)
		}
	}
	shown := cairn(t, env, "documents", "show", d.ID)
	for _, want := range []string{"hostile.pdf", "corrupt at extract", "next step", "cairn documents remove " + d.ID} {
		if !strings.Contains(shown, want) {
			t.Errorf("documents show does not say %q:\n%s", want, shown)
		}
	}
	cairn(t, env, "documents", "remove", d.ID, "--wait")
}

// anotherModel changes the embedding model of a project: doctor counts the documents of the
// old model and names the command that embeds them again. A question that the endpoint
// does not embed with the project's model is answered by words, and says so.
func anotherModel(t *testing.T, s *server, m *modeltest.Server, env []string) {
	d := s.publish(t, "of the old model", "The western pier has a crane.")
	change := map[string]any{"ai": map[string]any{"embeddings": map[string]any{"model": "another-model"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	code, out, _ := command(t, env, "doctor")
	for _, want := range []string{"documents embedded with " + modeltest.ModelName, "another-model is configured now", "cairn documents reingest --all --stale"} {
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("exit code %d: doctor does not say %q:\n%s", code, want, out)
		}
	}
	if _, _, said := command(t, env, "documents", "list"); !strings.Contains(said, "Embed them again: cairn documents reingest --all --stale --project default") {
		t.Errorf("documents list says %q", said)
	}
	if code, out, said := command(t, env, "documents", "reingest", "--all", "--stale"); code != 0 {
		t.Fatalf("exit code %d, %s%s", code, out, said)
	}
	await(t, time.Minute, "the documents have vectors of the new model", func(ctx context.Context) error {
		state, err := s.Details(ctx)
		if err == nil && len(state.StaleEmbeddings) > 0 {
			err = errors.New(state.StaleEmbeddings[0].EmbeddedWith + " is in use")
		}
		return err
	})
	if again := s.document(t, d.ID); again.Version != d.Version {
		t.Errorf("version %d of the document was made", again.Version)
	}
	if found, err := s.retrieve(t.Context(), "What does the western pier have?", "crane"); err != nil || len(found) == 0 {
		t.Errorf("found %v, %v", found, err)
	}
	m.ScriptEmbeddings(modeltest.Fail(http.StatusNotFound))
	code, out, said := command(t, env, "ask", "What does the western pier have?")
	if code != 0 || !strings.Contains(out, "of the old model") || !strings.Contains(said, "only their words were searched") {
		t.Errorf("without the model: exit code %d, %s%s", code, out, said)
	}
}

// gate is an address at which an endpoint can be reached while it is open.
type gate struct {
	t      *testing.T
	url    string
	proxy  http.Handler
	server *http.Server
}

// newGate returns an open gate to an endpoint.
func newGate(t *testing.T, endpoint string) *gate {
	t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, url: "http://127.0.0.1:0" + to.Path, proxy: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})}
	g.open()
	t.Cleanup(g.shut)
	return g
}

// open listens, from the second time on at the address of the first.
func (g *gate) open() {
	g.t.Helper()
	at, err := url.Parse(g.url)
	if err != nil {
		g.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", at.Host)
	if err != nil {
		g.t.Fatal(err)
	}
	at.Host = listener.Addr().String()
	g.url, g.server = at.String(), &http.Server{Handler: g.proxy, ReadHeaderTimeout: time.Minute}
	go func() { _ = g.server.Serve(listener) }() // it ends with shut
}

// shut ends the connections, and refuses others.
func (g *gate) shut() {
	if err := g.server.Close(); err != nil {
		g.t.Error(err)
	}
}
