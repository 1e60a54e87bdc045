package e2e_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// TestClusterRoles starts the roles before cairn migrate: they wait for it. A second
// migration keeps what the first one made.
func TestClusterRoles(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	early := c.start("api", "--listen", "127.0.0.1:0")
	await(t, time.Minute, "the API waits for cairn migrate", func(context.Context) error {
		if !strings.Contains(early.said(), "waiting for") {
			return errors.New(early.said())
		}
		return nil
	})
	c.migrate()
	early.ready("API")
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
	if page, want := s.document(t, s.upload(t, "again", "The southern pier has a foghorn.").ID).OperatorURL, c.temporal.ends.UI+"/namespaces/cluster/workflows/ingest"; !strings.HasPrefix(page, want) {
		t.Errorf("the operator's page is %s, want one under %s", page, want)
	}
	w.stop()
	early.stop()

	t.Run("a role with another key for secrets is refused", func(t *testing.T) {
		env := append(slices.Clone(c.env), "CAIRN_SECRET_KEY="+strings.Repeat("A", 43)+"=")
		code, _, said := command(t, env, "worker", "--data", t.TempDir())
		if code != 2 || !strings.Contains(said, "secret_key") {
			t.Errorf("exit code %d, %s", code, said)
		}
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

// TestClusterKills keeps the metadata in PostgreSQL. It kills one of two APIs and one of two workers in the middle of an
// answer, and a worker in the middle of ingestion. Nothing is lost, and the stream
// resumes.
func TestClusterKills(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 250, TokenDelay: 15 * time.Millisecond, EmbeddingDelay: 50 * time.Millisecond})
	c := startCluster(t, at(m.URL(), "CAIRN_DATABASE__URL="+postgrestest.Empty(t))...)
	c.migrate()
	firstWorker, _ := c.worker()
	firstAPI, first := c.api()
	_, second := c.api()
	first.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")

	a := first.query(t, "What is on the northern pier?")
	r := &reader{run: a.run, body: a}
	r.until(t, words(t, 30, answerText))
	c.worker()
	firstWorker.kill()
	r.until(t, words(t, 60, answerText))
	firstAPI.kill()
	silence := r.reconnect(t, second, never)
	t.Logf("%v of silence at the other API", silence.Round(time.Millisecond))
	if !r.ended() || silence > silenceLimit {
		t.Fatalf("the stream broke off after event %d, or was silent for %v", r.last, silence)
	}
	final := read(t, r.list).answer.Text
	wantSame(t, "what the reader put together", answerText(t, r.list), final)
	if n := strings.Count(final, "word"); n != 250 {
		t.Errorf("the answer has %d words of 250", n)
	}

	begun := m.Totals().Embeddings.Asked
	documents := make([]accepted, crashDocuments)
	victim, _ := c.worker()
	for i := range documents {
		documents[i] = second.uploadThrough(t, i)
	}
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked >= begun+8 }); err != nil {
		t.Fatal(err)
	}
	victim.kill()
	second.awaitPublished(t, crashDocuments+1)
	for i, d := range documents {
		second.wantOnce(t, d, i)
	}
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
