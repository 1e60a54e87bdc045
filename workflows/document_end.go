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
	in := activities.FinishInput{StepInput: end.StepInput, Status: knowledge.RunCompleted, Segments: end.segments}
	last := completedEntry(end.published)
	if end.err != nil {
		f := activities.Describe(end.err, end.late)
		in.Status = knowledge.RunFailed
		in.Error = &knowledge.DocumentError{Code: f.Code, Stage: cmp.Or(f.Stage, end.stage), Message: f.Message, Retryable: f.Retryable}
		last = entry(stream.TopicEnded, stream.Event{Data: stream.Data(activities.EndedData{Status: knowledge.RunFailed, Error: in.Error})})
		if f.Code == knowledge.CodeCanceled {
			in.Status = knowledge.RunCanceled
			last = entry(stream.TopicError, stream.Event{Data: stream.Data(f)})
		}
	}
	in.Items = l.itemsWith(end.first, last)
	if err := noteStatus(ctx, in.Status); err != nil {
		return err
	}
	if err := workflow.ExecuteLocalActivity(final(ctx, "finish"), write, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", end.Run, err)
	}
	l.Append(last)
	return nil
}

// completedEntry is the last entry of a run of a document that did not fail.
func completedEntry(published bool) stream.Entry {
	return entry(stream.TopicEnded, stream.Event{Data: stream.Data(activities.EndedData{Status: knowledge.RunCompleted, Published: published})})
}

// itemsWith returns the items in memory from an offset on, and last behind them.
func (l *eventLog) itemsWith(first int64, last stream.Entry) []stream.Item {
	return append(l.Items(first), stream.Item{Topic: last.Topic, Data: last.Data, Offset: l.End()})
}
