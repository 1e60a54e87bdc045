//go:build cluster

package main

import (
	"strings"
	"testing"
)

func TestWithoutTemporalServer(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"up", "--data", t.TempDir()}, {"demo"}} {
		code, stdout, stderr := command(t, args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "temporal.address") {
			t.Errorf("cairn %s: exit code %d, stdout %q, stderr %q; want a refusal that names temporal.address", args[0], code, stdout, stderr)
		}
	}
}
