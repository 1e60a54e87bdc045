package record

import (
	"encoding/json"
	"fmt"
	"time"

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
	Record    *Answer                  // is stored under Answer with the log; nil = no blob is stored there
	Published bool                     // of an ingest: readers see the version
	Usage     json.RawMessage          // of an answer
	RetryAt   time.Time                // of the Failure of an answer
	Detail    string                   // of the Failure
}

// Failed returns the ending of a run that failed, or was canceled if the failure
// has that code.
func Failed(kind knowledge.RunKind, f knowledge.Failure) Ending {
	return Ending{Kind: kind, RetryAt: f.RetryAt, Detail: f.Detail, Error: &knowledge.DocumentError{Code: f.Code, Message: f.Message, Retryable: f.Retryable}}
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
		return []stream.Entry{Entry(stream.TopicError, stream.Event{Data: stream.Data(e.failure())})}
	case e.Kind == knowledge.KindQuery, e.Kind == knowledge.KindResearch:
		return []stream.Entry{Entry(stream.TopicSources, stream.Event{Ref: e.Answer}), Entry(stream.TopicCompleted, stream.Event{Ref: e.Answer})}
	case e.Kind == knowledge.KindTool:
		return []stream.Entry{Entry(stream.TopicToolEnd, stream.Event{Ref: e.Answer})}
	}
	return []stream.Entry{Entry(stream.TopicEnded, stream.Event{Data: stream.Data(EndedData{Status: e.Status(), Error: e.Error, Published: e.Published})})}
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
		end.Error.Detail = e.Detail
	}
	return end
}

func (e Ending) failure() *knowledge.Failure {
	return &knowledge.Failure{Code: e.Error.Code, Message: e.Error.Message, RetryAt: e.RetryAt}
}

// Entry encodes an event. It panics only on a defect, because events have plain fields; in
// a workflow that fails the task and not the run.
func Entry(topic string, e stream.Event) stream.Entry {
	encoded, err := stream.NewEntry(topic, e)
	if err != nil {
		panic(fmt.Sprintf("event %s: %v", topic, err))
	}
	return encoded
}
