package namespace_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/namespace"
)

func TestTheSDKRepeatsNoErrorOfAnActivity(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(namespace.SDKHandler(slog.NewTextHandler(&out, nil))).With("queue", "embed")
	log.Error("Activity error.")
	log.Warn("the connection is lost")
	if got := out.String(); strings.Contains(got, "Activity error") || !strings.Contains(got, "the connection is lost") || !strings.Contains(got, "queue=embed") {
		t.Errorf("logged %q", got)
	}
}
