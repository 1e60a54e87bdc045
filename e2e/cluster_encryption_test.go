package e2e_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestClusterEncryption encrypts a cluster of two APIs and a worker, whose blobs are in a bucket and
// whose histories are on a Temporal server of its own: neither has a word of documents, questions
// and answers. One API rotates the key while the other one serves.
func TestClusterEncryption(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	variable, _ := encryptedBy(t)
	c, services := startWholeCluster(t, at(m.URL(), variable)...)
	c.worker()
	_, one := c.api()
	_, two := c.api()
	one.tellSecrets(t, m)
	two.wantReadable(t, m)
	hidden := func() {
		t.Helper()
		blobs, err := services.bucket.Contents()
		if err != nil || len(blobs) < 20 {
			t.Fatalf("the bucket has %d objects, %v", len(blobs), err)
		}
		for key, stored := range blobs {
			for i := range secretWords {
				if strings.Contains(string(stored), secretWord(i)) {
					t.Errorf("%s has %s", key, secretWord(i))
				}
			}
		}
		for workflow, history := range one.histories(t) {
			for i := range secretWords {
				if strings.Contains(history, secretWord(i)) {
					t.Errorf("the history of %s has %s", workflow, secretWord(i))
				}
			}
		}
	}
	hidden()
	former := one.awaitSealed(t, "")
	if code, _, stderr := command(t, []string{"CAIRN_URL=" + two.ends.API, "CAIRN_KEY=" + c.key}, "keys", "rotate"); code != 0 {
		t.Fatalf("keys rotate: exit code %d, %s", code, stderr)
	}
	two.publishIn(t, "default", "station-300", "Station 300 keeps no watchword.", nil)
	if text := one.bodyOf(t, "/workspaces/default/documents/"+one.idOf(t, "station-300")+"/content"); text != "Station 300 keeps no watchword." {
		t.Errorf("right after the rotation the other API reads %.100q", text)
	}
	one.awaitSealed(t, former.DataKey)
	one.wantReadable(t, m)
	two.wantReadable(t, m)
	hidden()

	wrong, _ := encryptedBy(t)
	c.env = append(c.env, wrong)
	refused := c.start("api", "--listen", "127.0.0.1:0")
	await(t, time.Minute, "an API with another master key ends", func(context.Context) error {
		select {
		case <-refused.done:
			return nil
		default:
			return errors.New("it runs")
		}
	})
	if said := refused.said(); !strings.Contains(said, "put that key back into encryption.key_file") {
		t.Errorf("an API with another master key says %s", said)
	}
}

// histories returns the text of the histories of all workflows.
func (s *server) histories(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	var next []byte
	for {
		page, err := s.operator(t).ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{NextPageToken: next})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.GetExecutions() {
			id := e.GetExecution().GetWorkflowId()
			all[id] = plain(t, s.history(t, id))
		}
		if next = page.GetNextPageToken(); len(next) == 0 {
			break
		}
	}
	if len(all) < 8 {
		t.Fatalf("there are the histories of %d workflows", len(all))
	}
	return all
}
