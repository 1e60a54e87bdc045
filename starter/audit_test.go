package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
)

// exported writes an export of n entries with a checkpoint of the last one, after edit changed
// its lines.
func exported(t *testing.T, n int, edit func(lines []string) []string) (path, key string) {
	t.Helper()
	signer := audit.NewSigner([]byte("key"))
	var lines []string
	add := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(data))
	}
	e := audit.Entry{Hash: audit.Genesis("default")}
	for i := range n {
		e = audit.Entry{At: time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC), Actor: "key:a", Details: json.RawMessage(`{"status":200}`)}.Link(int64(i+1), e.Hash)
		add(e)
	}
	add(map[string]audit.Checkpoint{"checkpoint": signer.Sign(audit.Checkpoint{Kind: audit.KindCheckpoint, Workspace: "default", Seq: e.Seq, Hash: e.Hash, At: e.At})})
	add(exportedKey{signer.PublicKey()})
	path = filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(edit(lines), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, signer.PublicKey()
}

func TestVerifyOfAFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(l []string) []string
		want string // "" = it verifies
	}{
		"as it was written":   {func(l []string) []string { return l }, ""},
		"a changed actor":     {func(l []string) []string { l[2] = strings.Replace(l[2], "key:a", "key:b", 1); return l }, "broken at entry 3 (changed)"},
		"a deleted line":      {func(l []string) []string { return append(l[:2], l[3:]...) }, "broken at entry 3 (missing)"},
		"a tail that was cut": {func(l []string) []string { return append(l[:3], l[5:]...) }, "broken at entry 4 (tail)"},
		"no entry":            {func(l []string) []string { return []string{"something"} }, "line 1 is no entry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, key := exported(t, 5, c.edit)
			var out, said bytes.Buffer
			a := &app{stdout: &out, stderr: &said}
			err := auditVerifyCmd{File: path, PublicKey: key}.Run(t.Context(), a)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %s", err, c.want)
			case c.want == "" && !strings.HasPrefix(out.String(), "5 entries, 1 to 5"):
				t.Errorf("it printed %s", out.String())
			}
			other := audit.NewSigner([]byte("another")).PublicKey()
			if err := (auditVerifyCmd{File: path, PublicKey: other}).Run(t.Context(), a); err == nil {
				t.Error("it verifies with the key of another instance")
			}
		})
	}
}
