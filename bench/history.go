package main

import (
	"context"
	"log/slog"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

// historyLength counts the events in the history of a question's workflow.
func historyLength(ctx context.Context, s *server, run string) (int, error) {
	c, err := client.DialContext(ctx, client.Options{
		HostPort: s.ends.Temporal, Namespace: "cairn", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
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
