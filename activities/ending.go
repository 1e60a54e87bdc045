package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Ending is the end of a run. It alone decides the status of the run, its error in
// SQL and the last events of its log.
type Ending struct {
	Kind      knowledge.RunKind
	Error     *knowledge.DocumentError // nil = completed; an answer's has no stage
	Answer    string                   // blob key of the answer of a completed question or tool
	Record    *AnswerRecord            // is stored under Answer with the log; nil = no blob is stored there
	Published bool                     // of an ingest: readers see the version
	Usage     json.RawMessage          // of an answer
	RetryAt   time.Time                // of the Failure of an answer
}

// Failed returns the ending of a run that failed, or was canceled if the failure
// has that code.
func Failed(kind knowledge.RunKind, f knowledge.Failure) Ending {
	return Ending{Kind: kind, RetryAt: f.RetryAt, Error: &knowledge.DocumentError{Code: f.Code, Message: f.Message, Retryable: f.Retryable}}
}

// Canceled returns the ending of a run that was canceled on request.
func Canceled(kind knowledge.RunKind) Ending {
	return Failed(kind, knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request"})
}

// VersionEnding returns the ending of the ingest of a version that is no longer
// pending.
func VersionEnding(v store.Version) Ending {
	if v.Status == knowledge.StatusError {
		return Ending{Kind: knowledge.KindIngest, Error: v.Error}
	}
	return Ending{Kind: knowledge.KindIngest, Published: v.Status == knowledge.StatusPublished}
}

// Status returns the status of the run.
func (e Ending) Status() knowledge.RunStatus {
	switch {
	case e.Error == nil:
		return knowledge.RunCompleted
	case e.Error.Code == knowledge.CodeCanceled:
		return knowledge.RunCanceled
	}
	return knowledge.RunFailed
}

// EndedData is the inline data of the last event of a document's run.
type EndedData struct {
	Error     *knowledge.DocumentError `json:"error,omitempty"`
	Published bool                     `json:"published,omitempty"`
	Status    knowledge.RunStatus      `json:"status"`
}

// Entries returns the last events of the run's log. The last one is terminal.
func (e Ending) Entries() []stream.Entry {
	answers := e.Kind.Traits().Answers
	switch {
	case e.Error != nil && (answers || e.Status() == knowledge.RunCanceled):
		return []stream.Entry{entry(stream.TopicError, stream.Event{Data: stream.Data(e.failure())})}
	case e.Kind == knowledge.KindQuery, e.Kind == knowledge.KindResearch:
		return []stream.Entry{entry(stream.TopicSources, stream.Event{Ref: e.Answer}), entry(stream.TopicCompleted, stream.Event{Ref: e.Answer})}
	case e.Kind == knowledge.KindTool:
		return []stream.Entry{entry(stream.TopicToolEnd, stream.Event{Ref: e.Answer})}
	}
	return []stream.Entry{entry(stream.TopicEnded, stream.Event{Data: stream.Data(EndedData{Status: e.Status(), Error: e.Error, Published: e.Published})})}
}

// Items returns the last events as items of the log. first is the offset of the
// first one.
func (e Ending) Items(first int64) []stream.Item {
	var items []stream.Item
	for i, x := range e.Entries() {
		items = append(items, stream.Item{Topic: x.Topic, Data: x.Data, Offset: first + int64(i)})
	}
	return items
}

// RunEnd returns the ending as SQL stores it. logKey is the key of the run's stored
// log; "" = the run has no log, and readers see Items.
func (e Ending) RunEnd(logKey string, at time.Time) store.RunEnd {
	end := store.RunEnd{Kind: e.Kind, Status: e.Status(), LogKey: logKey, ResultKey: e.Answer, Usage: e.Usage, At: at}
	if e.Error != nil {
		end.Error, end.ResultKey = e.failure(), ""
	}
	return end
}

func (e Ending) failure() *knowledge.Failure {
	return &knowledge.Failure{Code: e.Error.Code, Message: e.Error.Message, RetryAt: e.RetryAt}
}

// entry encodes an event of an ending. It panics only on a defect, because such
// events have plain fields.
func entry(topic string, e stream.Event) stream.Entry {
	encoded, err := stream.NewEntry(topic, e)
	if err != nil {
		panic(fmt.Sprintf("event %s: %v", topic, err))
	}
	return encoded
}

// RunEnder ends runs. It is the only code that does so, apart from the publication
// of a version that ends its run in the same transaction, and runs that end on a
// full disk.
type RunEnder struct {
	Blobs interface {
		// PutAll stores blobs. After an error some may be stored.
		PutAll(ctx context.Context, items ...blob.Item) error
	}
	Runs RunEnds
	Hub  interface {
		Finish(run string, items []stream.Item)
	}
}

// RunEnds is the part of the store that ends runs.
type RunEnds interface {
	// RunForSystem returns a run; CodeNotFound if there is none.
	RunForSystem(ctx context.Context, workspace, id string) (store.Run, error)
	// EndAnswer stores how a run ended and the messages that it leaves, in one
	// transaction. Only the first end of a run is stored.
	EndAnswer(ctx context.Context, workspace, id string, end store.RunEnd, messages ...store.Message) error
}

// End stores the whole log of a run, its end and its messages, and then passes the
// log to the readers in this process. items ends with the items of e. End changes
// nothing if the run has ended. Errors are those of the stores.
func (r RunEnder) End(ctx context.Context, run knowledge.RunRef, items []stream.Item, e Ending, messages ...store.Message) error {
	before, err := r.Runs.RunForSystem(ctx, run.Workspace, run.Run)
	if err != nil {
		return fmt.Errorf("read run %s: %w", run.Run, err)
	}
	if before.Status != knowledge.RunRunning {
		return nil
	}
	if err := r.store(ctx, run, items, e); err != nil {
		return fmt.Errorf("store the log of run %s: %w", run.Run, err)
	}
	if err := r.Runs.EndAnswer(ctx, run.Workspace, run.Run, e.RunEnd(run.LogKey(), time.Now().UTC()), messages...); err != nil {
		return fmt.Errorf("end run %s: %w", run.Run, err)
	}
	r.Hub.Finish(run.Run, items)
	return nil
}

// store stores the log of a run and its answer in one step.
func (r RunEnder) store(ctx context.Context, run knowledge.RunRef, items []stream.Item, e Ending) error {
	log, err := json.Marshal(stream.StoredLog{Items: items})
	if err != nil {
		return fmt.Errorf("encode the log: %w", err)
	}
	blobs := []blob.Item{{Key: run.LogKey(), Data: log}}
	if e.Record != nil {
		answer, err := json.Marshal(e.Record)
		if err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		blobs = append(blobs, blob.Item{Key: e.Answer, Data: answer})
	}
	return r.Blobs.PutAll(ctx, blobs...)
}
