package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/embedded"
)

// TestAServerThatRestsEmptiesItsLog writes more than a megabyte of log and waits.
func TestAServerThatRestsEmptiesItsLog(t *testing.T) {
	t.Parallel()
	config := embedded.Config{Dir: t.TempDir()}
	s := start(t, config)
	c := dial(t, s)
	defer c.Close()
	log := filepath.Join(config.Dir, "temporal.db-wal")
	size := func() int64 {
		info, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for i := 0; size() < 3<<20; i++ {
		options := client.StartWorkflowOptions{ID: fmt.Sprint(i), TaskQueue: "nobody"}
		if _, err := c.ExecuteWorkflow(t.Context(), options, "Any"); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(2 * time.Minute); size() > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log still has %d bytes", size())
		}
	}
	if _, err := c.DescribeWorkflowExecution(t.Context(), "0", ""); err != nil {
		t.Error(err)
	}
}
