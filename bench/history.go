package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

// historyLength counts the events in the history of a question's workflow.
func historyLength(ctx context.Context, s *server, run string) (int, error) {
	var ends struct {
		Temporal string `json:"temporal"`
	}
	data, err := os.ReadFile(filepath.Join(s.folder, "data", "endpoints.json"))
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(data, &ends); err != nil {
		return 0, err
	}
	c, err := client.DialContext(ctx, client.Options{
		HostPort: ends.Temporal, Namespace: "cairn", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	n := 0
	for events := c.GetWorkflowHistory(ctx, "query/default/"+run, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); n++ {
		if _, err := events.Next(); err != nil {
			return 0, err
		}
	}
	return n, nil
}
