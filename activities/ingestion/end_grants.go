package ingestion

import (
	"context"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
)

// endGrantsPage is how many grants one transaction ends.
const endGrantsPage = 100

// GrantEnds is the part of the store that ends grants.
type GrantEnds interface {
	// EndGrants writes the end of grants whose time is over into the audit, once, and returns when the
	// next one ends, zero if none does.
	EndGrants(ctx context.Context, workspace string, limit int) (next time.Time, err error)
}

// EndingGrants holds the activity of EndGrants.
type EndingGrants struct {
	Grants GrantEnds
	Log    *slog.Logger
}

// EndGrantsInput names a workspace, and the time before which grants end that are waited for.
type EndGrantsInput struct {
	Workspace string    `json:"workspace"`
	Before    time.Time `json:"before"`
}

// EndGrantsResult says when the next grant ends, the zero time if none does.
type EndGrantsResult struct {
	Next time.Time `json:"next,omitzero"`
}

// EndGrants ends a page of the grants whose time is over. A repetition ends those that are left.
func (a *EndingGrants) EndGrants(ctx context.Context, in EndGrantsInput) (EndGrantsResult, error) {
	next, err := a.Grants.EndGrants(ctx, in.Workspace, endGrantsPage)
	if err != nil {
		return EndGrantsResult{}, step.Failure(ctx, a.Log.With("workspace", in.Workspace), err)
	}
	return EndGrantsResult{Next: next}, nil
}
