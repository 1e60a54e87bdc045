package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestTwoVersions rehearses an upgrade of a cluster and the way back: the workers of two
// versions work side by side, and each run stays with the version that began it.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 20})
	c := startCluster(t, at(m.URL(), "CAIRN_TEMPORAL__PIN_VERSIONS=true")...)
	c.migrate()
	old, next := *c, *c
	old.program, next.program = version(t, "old"), version(t, "next")
	first, _ := old.worker()
	_, s := old.api()
	c.wantVersions(t, "old current")
	s.publish(t, "lights", "The northern pier has a lighthouse.")

	answer := func(version string) modeltest.Reply {
		return modeltest.Text("There is a lighthouse, and version " + version + " says so. <source_1>")
	}
	begun := func(begins string) (end func()) {
		t.Helper()
		wait := make(chan struct{})
		reply := answer(begins)
		reply.Until = wait
		m.ScriptChat(reply)
		asked := m.Totals().Chats.Asked
		run := s.query(t, "What is on the northern pier?").run
		if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Chats.Asked > asked }); err != nil {
			t.Fatal(err)
		}
		s.wantVersion(t, run, begins)
		return func() {
			t.Helper()
			close(wait)
			if text := read(t, s.follow(t, run, 0)).text; !strings.Contains(text, "version "+begins+" says so") {
				t.Errorf("the run of version %s was answered %q", begins, text)
			}
			s.wantVersion(t, run, begins)
		}
	}

	endBefore := begun("old")
	second, _ := next.worker()
	c.wantVersions(t, "next ready", "old current")
	endBeside := begun("old") // the new version begins nothing yet
	c.use(t, "next")
	c.wantVersions(t, "next current", "old draining")
	endUpgraded := begun("next")
	endBefore()
	endBeside()
	s.publish(t, "horns", "The southern pier has a foghorn.")

	c.use(t, "old") // and back, while a run of the new version is under way
	endBack := begun("old")
	m.ScriptChat(answer("next")) // for the call that the kill interrupts
	second.kill()
	next.worker()
	endUpgraded()
	endBack()
	c.wantVersions(t, "next draining", "old current")
	if asked := m.Totals().Chats.Asked; asked != 5 {
		t.Errorf("4 answers, one of them over a kill of its worker, took %d calls of the model, want 5", asked)
	}
	first.stop()
	code, _, said := command(t, c.env, "workers", "use", "nowhere", "--data", t.TempDir())
	if code != 1 || !strings.Contains(said, "start its workers first") {
		t.Errorf("cairn workers use of a version without workers: exit code %d, %s", code, said)
	}
}

// version builds the program with the name of another version.
func version(t *testing.T, name string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "cairn")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version="+name, "-o", program, "github.com/cairn-rag/cairn/starter")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		t.Fatalf("build version %s: %v", name, err)
	}
	return program
}

// use lets a version begin new runs.
func (c *cluster) use(t *testing.T, version string) {
	t.Helper()
	if code, out, said := command(t, c.env, "workers", "use", version, "--data", t.TempDir()); code != 0 || !strings.Contains(out, version) {
		t.Fatalf("cairn workers use %s: exit code %d\n%s\n%s", version, code, out, said)
	}
}

// wantVersions waits until cairn workers list shows versions with their status.
func (c *cluster) wantVersions(t *testing.T, want ...string) {
	t.Helper()
	await(t, time.Minute, fmt.Sprintf("the versions are %q", want), func(context.Context) error {
		code, out, said := command(t, c.env, "workers", "list", "--json", "--data", t.TempDir())
		var list struct {
			Data []struct{ Version, Status string }
		}
		if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
			return fmt.Errorf("exit code %d, %w, %s", code, err, said)
		}
		var got []string
		for _, v := range list.Data {
			got = append(got, v.Version+" "+v.Status)
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			return fmt.Errorf("they are %q", got)
		}
		return nil
	})
}

// wantVersion waits until the workflow of a question has the version that began it.
func (s *server) wantVersion(t *testing.T, run, want string) {
	t.Helper()
	await(t, time.Minute, "a version began run "+run, func(ctx context.Context) error {
		described, err := s.operator(t).DescribeWorkflowExecution(ctx, knowledge.KindQuery.WorkflowID("default", run), "")
		if err != nil {
			return err
		}
		if got := described.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId(); got != want {
			return fmt.Errorf("it is version %q, want %q", got, want)
		}
		return nil
	})
}
