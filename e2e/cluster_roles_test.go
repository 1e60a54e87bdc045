package e2e_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestClusterRoles starts the roles before cairn migrate: they wait for it. A second
// migration keeps what the first one made.
func TestClusterRoles(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 20, TokenDelay: 20 * time.Millisecond, Tools: researchTools(t, 4, 4)})
	c := startCluster(t, at(m.URL(), allowLoopback...)...)
	early := c.start("api", "--listen", "127.0.0.1:0")
	await(t, time.Minute, "the API waits for cairn migrate", func(context.Context) error {
		if !strings.Contains(early.said(), "waiting for") {
			return errors.New(early.said())
		}
		return nil
	})
	c.migrate()
	other := c.client(early.ready("API"))
	w, health := c.worker("--queues", "query,ingest,bulk,bulk-large,webhook")
	c.worker("--queues", "fetch,parse,embed,transcribe,write")
	if err := health.Ready(t.Context()); err != nil {
		t.Errorf("/readyz of the worker: %v", err)
	}
	if status := health.call(t, "GET", "/metrics", nil, nil); status != 200 {
		t.Errorf("/metrics of the worker: status %d", status)
	}
	c.migrate()
	_, s := c.api()
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	if page, want := s.document(t, s.upload(t, "again", "The southern pier has a foghorn.").ID).OperatorURL, c.ends.UI+"/namespaces/cluster/workflows/ingest"; !strings.HasPrefix(page, want) {
		t.Errorf("the operator's page is %s, want one under %s", page, want)
	}
	t.Run("a reader resumes at another API process", func(t *testing.T) {
		a := s.begun(t, "What is on the northern pier?", 5)
		rest := other.follow(t, a.run, 5)
		all := s.follow(t, a.run, 0)
		if diff := cmp.Diff(all[5:], rest); diff != "" {
			t.Errorf("behind event 5 (-of one process +of the other):\n%s", diff)
		}
		if diff := cmp.Diff(all, other.follow(t, a.run, 0)); diff != "" {
			t.Errorf("all events (-of one process +of the other):\n%s", diff)
		}
		if diff := cmp.Diff(all[5:], other.overSocket(t, other.socketOf(a.run, 5), 0)); diff != "" {
			t.Errorf("behind event 5 (-over SSE +over the WebSocket of the other process):\n%s", diff)
		}
		other.wantSocket(t, "Is there a lighthouse?", names(all))
	})
	t.Run("a research goes on when its worker is killed", func(t *testing.T) {
		r := s.research(t, map[string]any{"breadth": 4, "depth": 1})
		r.until(t, updates(t, 1, "notes", "completed"))
		w.kill()
		w, _ = c.worker("--queues", "query,ingest,bulk,bulk-large,webhook")
		r.until(t, never) // on the same connection
		tr := read(t, r.list)
		wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
		wantResolved(t, tr.answer)
		if n := strings.Count(tr.text, "\n## Pier "); n != 4 {
			t.Errorf("the report has %d sections of 4:\n%s", n, tr.text)
		}
	})
	t.Run("an agent goes on when its worker is killed, before an approval and behind it", func(t *testing.T) {
		w = s.agentOverKills(t, m, w, func() *role {
			next, _ := c.worker("--queues", "query,ingest,bulk,bulk-large,webhook")
			return next
		})
	})
	c.sharesState(t, other, s)
	t.Run("a limit of documents counts the documents of both", func(t *testing.T) { sharesRoom(t, other, s) })
	t.Run("an address of another process is refused", func(t *testing.T) { refusesItself(t, s, other) })
	w.stop()
	early.stop()

	refusesRoles(t, c)
}

// refusesRoles starts roles whose configuration does not fit the cluster.
func refusesRoles(t *testing.T, c *cluster) {
	t.Helper()
	t.Run("a role with another key for secrets is refused", func(t *testing.T) {
		env := append(slices.Clone(c.env), "CAIRN_SECRET_KEY="+strings.Repeat("A", 43)+"=")
		code, _, said := command(t, env, "worker", "--data", t.TempDir())
		if code != 2 || !strings.Contains(said, "secret_key") {
			t.Errorf("exit code %d, %s", code, said)
		}
	})
	t.Run("a role with the blobs of another instance is refused", func(t *testing.T) {
		other := newCluster(t, c.ends)
		other.migrate()
		env := append(slices.Clone(c.env), "CAIRN_BLOB__URL=file://"+filepath.Join(other.shared, "blobs"))
		for _, args := range [][]string{{"api", "--listen", "127.0.0.1:0"}, {"worker"}} {
			code, _, said := command(t, env, append(args, "--data", t.TempDir())...)
			if code != 1 || !strings.Contains(said, "another instance") || !strings.Contains(said, "blob.url") {
				t.Errorf("cairn %s: exit code %d, %s", args[0], code, said)
			}
		}
	})
	t.Run("a role with a blob store of its own waits for the cluster's store", func(t *testing.T) {
		alone := *c
		alone.env = append(slices.Clone(c.env), "CAIRN_BLOB__URL=file://"+filepath.Join(t.TempDir(), "blobs"))
		r := alone.start("worker")
		await(t, time.Minute, "the worker names the blob store", func(context.Context) error {
			if !strings.Contains(r.said(), "waiting for cairn migrate to prepare the blob store") || !strings.Contains(r.said(), "the same blob.url") {
				return errors.New(r.said())
			}
			return nil
		})
		r.kill()
	})
	t.Run("a role without a Temporal server is refused", func(t *testing.T) {
		for _, args := range [][]string{{"api"}, {"migrate"}} {
			code, _, said := command(t, nil, append(args, "--data", t.TempDir())...)
			if code != 2 || !strings.Contains(said, "temporal.address") {
				t.Errorf("cairn %s: exit code %d, %s", args[0], code, said)
			}
		}
	})
}

// TestUpOnATemporalServer has cairn up use the Temporal server of another process, over
// a kill.
func TestUpOnATemporalServer(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	up := func() (*role, *server) {
		r := c.start("up", "--listen", "127.0.0.1:0")
		return r, c.client(r.ready("API"))
	}
	first, s := up()
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	first.kill()
	second, s := up()
	s.publish(t, "horns", "The southern pier has a foghorn.")
	answer := read(t, s.follow(t, s.query(t, "What is on the northern pier?").run, 0))
	if answer.text == "" || answer.text != answer.answer.Text {
		t.Errorf("readers have %q, the answer is %q", answer.text, answer.answer.Text)
	}
	if page, want := s.document(t, s.upload(t, "again", "A pier.").ID).OperatorURL, c.ends.UI+"/namespaces/"+clusterNamespace; !strings.HasPrefix(page, want) {
		t.Errorf("the operator's page is %s, want one under %s", page, want)
	}
	second.stop()
}

// TestSweepHistories has the schedule of a sweep start it, on a worker of its queue.
func TestSweepHistories(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	c.migrate()
	_, s := c.worker("--queues", "bulk")
	temporal := s.operator(t)
	schedule := temporal.ScheduleClient().GetHandle(t.Context(), "sweep/runs")
	if err := schedule.Trigger(t.Context(), sdk.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	var workflow string
	await(t, time.Minute, "the sweep has run", func(ctx context.Context) error {
		description, err := schedule.Describe(ctx)
		if err != nil || len(description.Info.RecentActions) == 0 {
			return errors.Join(err, errors.New("it has not"))
		}
		workflow = description.Info.RecentActions[0].StartWorkflowResult.WorkflowID
		return nil
	})
	s.awaitClosed(t, workflow)
	if h := s.history(t, workflow); *updateHistories {
		record(t, "sweep", h)
	}
}
