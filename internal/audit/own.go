package audit

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// Own is a change that Cairn makes by itself, in a workflow that no request waits for.
type Own struct {
	Workspace string
	Actor     string // workflow: and the kind of the run
	Action    string
	Object    string   // what the run is about, such as an import
	Run       string   // "" = none
	Objects   []string // what was changed
}

// OwnRows returns the rows of a change, each with as many objects as a row names; none if
// nothing was changed, or if a request makes the change: its row reports it.
func OwnRows(ctx context.Context, id string, at time.Time, o Own) []Row {
	if of(ctx) != nil || len(o.Objects) == 0 {
		return nil
	}
	var rows []Row
	for part := range slices.Chunk(o.Objects, maxDocuments) {
		n := len(rows) + 1
		details := Details{Run: clean(o.Run), Objects: part}
		row := Row{ID: id, Workspace: o.Workspace}
		if n > 1 {
			details.Part, row.ID = n, id+"/"+strconv.Itoa(n)
		}
		row.Entry = Entry{
			At: at.UTC().Truncate(time.Microsecond), Actor: clean(o.Actor), Action: o.Action, Object: clean(o.Object), Outcome: OutcomeOK, Details: details.encode(),
		}
		rows = append(rows, row)
	}
	return rows
}
