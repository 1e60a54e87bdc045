package workflows

import (
	"cmp"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// documentEnd is the outcome of the run of a version or a removal.
type documentEnd struct {
	ingestion.StepInput
	kind      knowledge.RunKind
	first     int64           // offset of the run's first event in the log
	segments  int             // stored segments of the run's log, before the items in memory
	stage     knowledge.Stage // the stage that failed
	published bool
	err       error
	timeout   knowledge.Failure // the failure that clients see if the stage ran out of time
}

func (end documentEnd) ending() record.Ending {
	if end.err == nil {
		return record.Ending{Kind: end.kind, Published: end.published}
	}
	f := step.DescribeStep(end.err, end.timeout)
	ending := record.Failed(end.kind, f)
	ending.Error.Stage = cmp.Or(f.Stage, end.stage)
	return ending
}

// finish writes the end of a document's run in SQL, in the stored log and in the
// workflow's log. write is the local activity FinishVersion or FinishRemoval.
func (l *eventLog) finish(ctx workflow.Context, end documentEnd, write any) error {
	ending := end.ending()
	in := ingestion.FinishInput{StepInput: end.StepInput, Status: ending.Status(), Error: ending.Error, Segments: end.segments}
	in.Items = l.itemsWith(end.first, ending)
	var stage []temporal.SearchAttributeUpdate
	if in.Error != nil && in.Error.Stage != "" {
		stage = append(stage, KeyStage.ValueSet(string(in.Error.Stage)))
	}
	if err := setStatusAttribute(ctx, in.Status, stage...); err != nil {
		return err
	}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), write, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", end.Run, err)
	}
	l.end(ending)
	return nil
}

// itemsWith returns the items in memory from an offset on, followed by the items of
// an ending.
func (l *eventLog) itemsWith(first int64, ending record.Ending) []stream.Item {
	return append(l.Items(first), ending.Items(l.End())...)
}

// end appends the last events of a run. The caller has stored the end before.
func (l *eventLog) end(ending record.Ending) {
	for _, e := range ending.Entries() {
		l.Append(e)
	}
}
