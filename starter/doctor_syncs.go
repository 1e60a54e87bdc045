package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// maxSyncs is how many of the newest syncs are looked at.
const maxSyncs = 100

// checkSyncs names the syncs that could not list their places, that wait for their services,
// and whose last run could not import every file.
func checkSyncs(ctx context.Context, c *client.Client) []finding {
	list, err := c.Syncs(ctx, "", "", maxSyncs)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == knowledge.CodeNotFound || whatOpens(err) != "" {
		return nil // a server of before there were syncs, or a key that the check of documents names
	}
	if err != nil {
		return []finding{{"syncs", findingBad, err.Error(), ""}}
	}
	var found []finding
	for _, y := range list.Data {
		name := "sync " + firstOf(y.Place, y.ID)
		switch {
		case y.Status == "failed" && y.LastRun != nil && y.LastRun.Error != nil:
			e := y.LastRun.Error
			detail := fmt.Sprintf("the run of %s ago failed: %s: %s", terminal.Duration(time.Since(y.LastRun.StartedAt)), e.Code, e.Message)
			found = append(found, finding{name, findingBad, detail, syncRepair(y, e.Code)})
		case y.Status == "waiting" && y.WaitsUntil != nil:
			found = append(found, finding{name, findingNote, "the service asked for fewer requests: it waits until " + terminal.Time(*y.WaitsUntil), ""})
		case y.Status != "running" && y.Failed > 0:
			found = append(found, finding{name, findingNote, fmt.Sprintf("%s of the last run failed", terminal.Count(int(y.Failed), "file")), "cairn syncs show " + y.ID})
		}
		if y.Unresolved > 0 {
			detail := "the service does not tell all members of " + terminal.Count(int(y.Unresolved), "group") + ", so not everybody sees what the group may see"
			found = append(found, finding{name, findingNote, detail, "check that the groups are there, and that the connection may read their members"})
		}
	}
	return found
}

// syncRepair returns what to do when the place of a sync could not be listed.
func syncRepair(y client.Sync, code knowledge.Code) string {
	if code == knowledge.CodeForbidden || code == knowledge.CodeUnauthorized {
		return "cairn connections secret " + y.ConnectionID + " < FILE, then cairn syncs run " + y.ID
	}
	return "after a repair: cairn syncs run " + y.ID
}
