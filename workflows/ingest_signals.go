package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// drain takes in what was signalled: while a version is being ingested, and
// before the workflow looks at its queue.
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
