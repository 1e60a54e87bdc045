package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestAcknowledgedFailure: doctor is quiet about a failure that a person has acknowledged,
// until the document fails again.
func TestAcknowledgedFailure(t *testing.T) {
	t.Parallel()
	s := start(t)
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key, "CAIRN_DATA=" + s.folder}
	d := s.wantFailed(t, s.sendFiles(t, nil, file{"harbour.wav", silence(1)})[0], knowledge.StageExtract, knowledge.CodeNeedsComponent)
	told := func(when string, want bool) {
		t.Helper()
		if _, out, _ := command(t, env, "doctor"); strings.Contains(out, "harbour.wav") != want {
			t.Errorf("%s doctor says\n%s", when, out)
		}
	}
	told("before,", true)
	if out := cairn(t, env, "documents", "acknowledge", d.ID); out != "acknowledged 1 of 1 document\n" {
		t.Errorf("acknowledge says %q", out)
	}
	told("afterwards,", false)
	var shown struct{ Acknowledged bool }
	if err := json.Unmarshal([]byte(cairn(t, env, "documents", "show", d.ID, "-o", "json")), &shown); err != nil || !shown.Acknowledged {
		t.Errorf("documents show has acknowledged: %t, %v", shown.Acknowledged, err)
	}
	var list struct{ Data []struct{ Acknowledged bool } }
	if err := json.Unmarshal([]byte(cairn(t, env, "documents", "list", "--status", "error", "-o", "json")), &list); err != nil || len(list.Data) != 1 || !list.Data[0].Acknowledged {
		t.Errorf("documents list has %+v, %v", list, err)
	}
	cairn(t, env, "documents", "acknowledge", "harbour.wav", "--undo")
	told("after the undo,", true)
	cairn(t, env, "documents", "acknowledge", "--all", "--code", "needs_component")
	told("of all,", false)
	if code, out, _ := command(t, env, "documents", "retry", d.ID, "--wait"); code != 1 {
		t.Fatalf("the retry has succeeded: %s", out)
	}
	told("after another failure,", true)
	text := s.publish(t, "sound", "The lamp is cleaned every Tuesday.")
	if code, _, said := command(t, env, "documents", "acknowledge", text.ID); code != 1 || !strings.Contains(said, "only a document that has failed") {
		t.Errorf("of a sound document: exit code %d, %s", code, said)
	}
}
