package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// drain receives every waiting signal of IngestDocument. It runs when a signal
// arrives, and before the workflow reads its queue.
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
	for workflow.GetSignalChannel(ctx, SignalRetry).ReceiveAsync(nil) {
		w.retrySignals++
	}
}

// enqueue adds a version to the queue, unless it is queued or running already.
func (w *ingest) enqueue(t IngestTask) {
	running := t == w.current && w.cancel != nil
	if !running && !slices.Contains(w.queue, t) {
		w.queue = append(w.queue, t)
	}
}

// stop cancels the current version if the signal covers it, and remembers a run
// that is not current. Queued versions of a removed document need no memory: their
// first step reads from SQL that they are being removed.
func (w *ingest) stop(s IngestStop) {
	if w.cancel != nil && s.covers(w.current) {
		w.cancel()
	}
	if s.Run != "" {
		w.stopped = append(w.stopped, s.Run)
	}
}
