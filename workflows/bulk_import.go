package workflows

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// SignalImport is the signal of BulkImport that pauses and resumes it: ImportControl.
const SignalImport = "import_control"

// ImportControl pauses an import, or resumes it.
type ImportControl struct {
	Paused bool `json:"paused"`
}

// ImportInput starts an import. State and Log are carried over a continue-as-new.
type ImportInput struct {
	knowledge.ImportRef
	Run   string      `json:"run"`
	Retry bool        `json:"retry,omitempty"` // only what failed is imported again
	State ImportState `json:"state,omitzero"`
	Log   stream.Log  `json:"log,omitzero"`
}

// ImportState is how far an import is.
type ImportState struct {
	Listed   int          `json:"listed,omitempty"`   // pages that are listed
	Complete bool         `json:"complete,omitempty"` // no page is left to list
	Waiting  []PageToDo   `json:"waiting,omitempty"`  // listed pages that are not begun
	Open     []PageToDo   `json:"open,omitempty"`     // pages whose workflows run
	Tries    map[int]int  `json:"tries,omitempty"`    // of pages, that did not complete them
	Paused   bool         `json:"paused,omitempty"`
	Segments int          `json:"segments,omitempty"` // stored segments of the log
	Failure  *ListFailure `json:"failure,omitempty"`  // why the source cannot be listed to its end
}

// PageToDo is a page with objects to import.
type PageToDo struct {
	Page    int `json:"page"`
	Objects int `json:"objects"`
}

// ListFailure is why a source cannot be listed.
type ListFailure struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
}

// BulkImport imports the objects of a source: it lists them page by page, and starts a
// workflow for each page, several at the same time.
func BulkImport(ctx workflow.Context, in ImportInput) error {
	w, err := newBulkImport(ctx, in)
	if err != nil {
		return err
	}
	err = w.run(ctx)
	if errors.Is(err, errContinue) {
		return w.continueAsNew(ctx)
	}
	return w.finish(ctx, err)
}

// bulkImport is the state of BulkImport.
type bulkImport struct {
	ImportState
	in    ImportInput
	log   *eventLog
	moved bool                  // this run of the workflow has listed or completed a page
	last  record.ImportProgress // that was reported
	acts  *ingestion.Importing  // for the names of its methods only
}

func newBulkImport(ctx workflow.Context, in ImportInput) (*bulkImport, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	w := &bulkImport{ImportState: in.State, in: in, log: log}
	if w.Tries == nil {
		w.Tries = map[int]int{}
	}
	drainOnSignal(disconnected(ctx), SignalImport, w.drain)
	return w, nil
}

// drain receives every waiting signal. The last one counts.
func (w *bulkImport) drain(ctx workflow.Context) {
	for {
		var c ImportControl
		if !workflow.GetSignalChannel(ctx, SignalImport).ReceiveAsync(&c) {
			return
		}
		w.Paused = c.Paused
	}
}

// run imports the objects, or retries those that failed. It returns errContinue if the
// history has become long, and the error of ctx after a cancel.
func (w *bulkImport) run(ctx workflow.Context) error {
	w.report(ctx)
	if status := w.last.Status; status != "" && !status.Open() { // it was canceled before it began
		return temporal.NewCanceledError()
	}
	for {
		w.drain(ctx)
		err := ctx.Err()
		if err != nil || w.Paused {
			w.stopPages(ctx)
		}
		switch {
		case err != nil:
		case w.Paused:
			err = w.rest(ctx)
		case w.in.Retry:
			var done bool
			if done, err = w.retry(ctx); done {
				return nil
			}
		case w.imported():
			return w.vanished(ctx)
		default:
			err = w.work(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// imported reports whether every object that could be listed has an outcome.
func (w *bulkImport) imported() bool {
	return (w.Complete || w.Failure != nil) && len(w.Waiting) == 0 && len(w.Open) == 0
}

// rest stores that the import is paused, and blocks until it is resumed.
func (w *bulkImport) rest(ctx workflow.Context) error {
	if err := w.setStatus(ctx, knowledge.ImportPaused); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return !w.Paused }); err != nil {
		return err
	}
	return w.setStatus(ctx, knowledge.ImportRunning)
}

func (w *bulkImport) setStatus(ctx workflow.Context, status knowledge.ImportStatus) error {
	in := ingestion.ImportStatusInput{ImportRef: w.in.ImportRef, Status: status}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "note that it is "+string(status)), w.acts.SetImportStatus, in).Get(ctx, nil); err != nil {
		return err
	}
	w.report(ctx)
	return nil
}

// continueAsNew returns the error that continues the workflow as new. The workflows of
// the open pages continue, and the events that leave memory are stored before.
func (w *bulkImport) continueAsNew(ctx workflow.Context) error {
	w.drain(ctx)
	w.log.drain(ctx)
	held := w.log.Items(0)
	in := w.in
	in.Log = w.log.carry(ctx)
	count := 0
	for count < len(held) && held[count].Offset < in.Log.Base {
		count++
	}
	if count > 0 {
		segment := ingestion.ImportSegmentInput{ImportRef: w.in.ImportRef, Run: w.in.Run, Number: w.Segments, Items: slices.Clone(held[:count])}
		w.Segments++
		if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "store a part of the log"), w.acts.StoreImportSegment, segment).Get(ctx, nil); err != nil {
			return err
		}
	}
	in.State = w.ImportState
	return workflow.NewContinueAsNewError(ctx, BulkImport, in)
}
