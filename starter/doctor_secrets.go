package main

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// secretWarning is how long before its end the secret of a connection is named.
const secretWarning = 7 * 24 * time.Hour

// checkSecrets names the connections whose secrets expire soon, of those whose services have told
// it to a run or a check. A connection that its service refuses is named with its syncs.
func checkSecrets(ctx context.Context, c *client.Client) []finding {
	list, err := c.Connections(ctx, "", maxSyncs)
	if err != nil {
		return nil // a key that may not see connections, or a server of before there were any
	}
	var found []finding
	for _, one := range list.Data {
		if one.SecretEnds == nil || time.Until(*one.SecretEnds) > secretWarning {
			continue
		}
		found = append(found, finding{"connection " + one.ID, findingBad, "its secret expires on " + terminal.Time(*one.SecretEnds), "cairn connections secret " + one.ID + " < FILE"})
	}
	return found
}
