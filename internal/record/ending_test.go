package record_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// TestEnding checks the status, the error in SQL and the last events of each kind of
// run.
func TestEnding(t *testing.T) {
	t.Parallel()
	broken := knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "no model"}
	stopped := knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request"}
	for _, kind := range knowledge.RunKinds() {
		for name, test := range map[string]struct {
			end    record.Ending
			status knowledge.RunStatus
			answer []string // the topics of an answer's last events
			others []string
		}{
			"completed": {record.Ending{Kind: kind.Kind, Answer: "key"}, knowledge.RunCompleted, nil, []string{stream.TopicEnded}},
			"failed":    {record.Failed(kind.Kind, broken), knowledge.RunFailed, []string{stream.TopicError}, []string{stream.TopicEnded}},
			"canceled":  {record.Failed(kind.Kind, stopped), knowledge.RunCanceled, []string{stream.TopicError}, []string{stream.TopicError}},
		} {
			want := test.others
			switch {
			case kind.Answers && test.answer != nil:
				want = test.answer
			case kind.Kind == knowledge.KindQuery || kind.Kind == knowledge.KindResearch:
				want = []string{stream.TopicSources, stream.TopicCompleted}
			case kind.Kind == knowledge.KindTool:
				want = []string{stream.TopicToolEnd}
			}
			var got []string
			items := test.end.Items(5)
			for i, item := range items {
				got = append(got, item.Topic)
				if item.Offset != int64(5+i) || stream.Terminal(item.Topic) != (i == len(items)-1) {
					t.Errorf("%s %s: item %+v", kind.Kind, name, item)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: %s", kind.Kind, name, diff)
			}
			end := test.end.RunEnd("log", time.Now())
			if end.Status != test.status || end.Status != test.end.Status() || (end.Error == nil) != (name == "completed") || (end.ResultKey == "key") != (name == "completed") {
				t.Errorf("%s %s: %s", kind.Kind, name, fmt.Sprintf("%+v", end))
			}
		}
	}
}
