package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// up runs cairn up on a folder and free ports until ctx ends.
func up(ctx context.Context, data string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, &app{stdout: &out, stderr: &errs}, []string{
		"up", "--data", data, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0",
	})
	return code, out.String(), errs.String()
}

func TestUpStopsWhileItStarts(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if code, stdout, stderr := up(ctx, t.TempDir()); code != exitDone || strings.Contains(stdout, "ready") {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}
