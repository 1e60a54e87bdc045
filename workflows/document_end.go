package workflows

import (
	"cmp"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// documentEnd is how the run of a version or a removal ended.
type documentEnd struct {
	activities.StepInput
	kind      knowledge.RunKind
	first     int64           // where the run's events begin in the log
	segments  int             // of the run's log that are stored, before what is in memory
	stage     knowledge.Stage // that failed
	published bool
	err       error
	late      knowledge.Failure // what it means that the stage ran out of time
}

// finish writes the end of a document's run: in SQL, in the stored log and in the
// workflow's log. write is the activity that does so, FinishVersion or
// FinishRemoval.
func (l *eventLog) finish(ctx workflow.Context, end documentEnd, write any) error {
	ending := activities.Ending{Kind: end.kind, Published: end.published}
	if end.err != nil {
		f := activities.Describe(end.err, end.late)
		ending = activities.Failed(end.kind, f)
		ending.Error.Stage = cmp.Or(f.Stage, end.stage)
	}
	in := activities.FinishInput{StepInput: end.StepInput, Status: ending.Status(), Error: ending.Error, Segments: end.segments}
	in.Items = l.itemsWith(end.first, ending)
	if err := noteStatus(ctx, in.Status); err != nil {
		return err
	}
	if err := workflow.ExecuteLocalActivity(final(ctx, "finish"), write, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", end.Run, err)
	}
	l.end(ending)
	return nil
}

// itemsWith returns the items in memory from an offset on, and those of an ending
// behind them.
func (l *eventLog) itemsWith(first int64, ending activities.Ending) []stream.Item {
	return append(l.Items(first), ending.Items(l.End())...)
}

// end appends the last events of a run, once its end is stored.
func (l *eventLog) end(ending activities.Ending) {
	for _, e := range ending.Entries() {
		l.Append(e)
	}
}
