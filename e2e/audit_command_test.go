package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAuditCommands lists, exports and verifies an audit whose checkpoints are kept outside, and
// verifies files that somebody has cut and changed.
func TestAuditCommands(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	s := start(t, "CAIRN_AUDIT__CHECKPOINTS=file://"+outside)
	document := s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	run := func(args ...string) (int, string, string) {
		return command(t, nil, append(args, "--url", s.ends.API, "--key", s.key)...)
	}
	for range 3 {
		s.pass(t, "GET", "/workspaces/default/documents/"+document+"/content", "")
	}
	if code, out, said := run("audit", "list", "--object", document); code != 0 || strings.Count(out, "get-document-content") != 3 {
		t.Errorf("list: exit code %d, %s%s", code, out, said)
	}
	var kept []string
	await(t, 90*time.Second, "a checkpoint of two entries is kept outside", func(context.Context) error {
		var c struct{ Seq int64 }
		kept, _ = filepath.Glob(filepath.Join(outside, "default", "audit", "checkpoint-*.json")) // the pattern is right
		for _, path := range kept {
			if data, err := os.ReadFile(path); err != nil || json.Unmarshal(data, &c) != nil || c.Seq >= 2 {
				return err
			}
		}
		return fmt.Errorf("there are %d, of %d entries", len(kept), c.Seq)
	})
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	if code, out, said := run("audit", "export", file); code != 0 {
		t.Fatalf("export: exit code %d, %s%s", code, out, said)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	var key struct {
		Key string `json:"public_key"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &key); err != nil {
		t.Fatal(err)
	}
	verify := func(name string, lines [][]byte) (int, string) {
		changed := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(changed, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, said := command(t, nil, "audit", "verify", changed, "--public-key", key.Key, "--checkpoints", kept[0])
		return code, said
	}
	if code, said := verify("whole", lines); code != 0 {
		t.Errorf("the whole file: exit code %d, %s", code, said)
	}
	if code, said := verify("cut", lines[:1]); code != 1 || !strings.Contains(said, "broken at entry 2 (tail)") {
		t.Errorf("a cut file, without its checkpoints: exit code %d, %s", code, said)
	}
	removed := append(slices.Clone(lines[:1]), lines[2:]...)
	if code, said := verify("removed", removed); code != 1 || !strings.Contains(said, "broken at entry 2 (missing)") {
		t.Errorf("a file without its second entry: exit code %d, %s", code, said)
	}
	lines[1] = bytes.Replace(lines[1], []byte("127.0.0.1"), []byte("127.0.0.2"), 1)
	if code, said := verify("changed", lines); code != 1 || !strings.Contains(said, "broken at entry 2 (changed)") {
		t.Errorf("a changed file: exit code %d, %s", code, said)
	}
	if code, out, said := run("audit", "verify"); code != 0 || !strings.Contains(out, " entries, 1 to ") {
		t.Errorf("verify: exit code %d, %s%s", code, out, said)
	}
}
