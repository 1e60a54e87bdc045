package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// listen takes in signals while a version is being ingested. It waits for the
// channels to hold something instead of receiving from them: a blocked receiver
// is handed its value before it runs, and the workflow could end in between.
func (w *ingest) listen(ctx workflow.Context) {
	tasks := workflow.GetSignalChannel(ctx, SignalIngest)
	stops := workflow.GetSignalChannel(ctx, SignalStop)
	for workflow.Await(ctx, func() bool { return tasks.Len()+stops.Len() > 0 }) == nil {
		w.drain(ctx)
	}
}

// drain takes in what was signalled but not yet seen, before the workflow looks
// at its queue.
func (w *ingest) drain(ctx workflow.Context) {
	for {
		var t IngestTask
		if !workflow.GetSignalChannel(ctx, SignalIngest).ReceiveAsync(&t) {
			break
		}
		w.enqueue(t)
	}
	for {
		var s IngestStop
		if !workflow.GetSignalChannel(ctx, SignalStop).ReceiveAsync(&s) {
			break
		}
		w.stop(s)
	}
}

// enqueue adds a version once; the same run signalled again changes nothing.
func (w *ingest) enqueue(t IngestTask) {
	known := t == w.current && w.cancel != nil || slices.Contains(w.queue, t)
	if !known {
		w.queue = append(w.queue, t)
	}
}

// stop gives up the current version if it is meant, and remembers a run whose
// turn has yet to come. Versions that are being removed find out from SQL.
func (w *ingest) stop(s IngestStop) {
	if w.cancel != nil && s.covers(w.current) {
		w.cancel()
	}
	if s.Run != "" {
		w.stopped = append(w.stopped, s.Run)
	}
}
