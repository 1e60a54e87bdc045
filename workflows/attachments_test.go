package workflows_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// TestQuestionWaitsForAttachments: a question is asked when its attachments have been
// ingested. One that failed is shown, and does not end the run.
func TestQuestionWaitsForAttachments(t *testing.T) {
	t.Parallel()
	var acts answering.Activities
	test := newAnswerTest(t)
	waited := 0
	test.env.OnActivity(acts.AwaitAttachment, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in answering.AttachmentInput) (knowledge.AttachedDocument, error) {
			if waited++; waited == 1 {
				return knowledge.AttachedDocument{}, errors.New("the store is away")
			}
			d := knowledge.AttachedDocument{DocumentID: in.Document, Status: knowledge.StatusPublished}
			if in.Document == "bad" {
				d.Status, d.Code = knowledge.StatusError, knowledge.CodeCorrupt
			}
			return d, nil
		})
	want := []knowledge.AttachedDocument{
		{DocumentID: "good", Status: knowledge.StatusPublished}, {DocumentID: "bad", Status: knowledge.StatusError, Code: knowledge.CodeCorrupt},
	}
	test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
		if diff := cmp.Diff(want, in.Loop.Attachments); diff != "" || in.Loop.Found == nil {
			t.Errorf("found %v; %s", in.Loop.Found, diff)
		}
		return answering.ModelCallResult{Key: "w/runs/r/turn-1.json"}, nil
	})
	finished := test.run(t, record.AnswerInput{SearchFirst: true, MaxToolTurns: 5, Attachments: []string{"good", "bad"}})
	if diff := cmp.Diff(want, finished.Loop.Attachments); diff != "" || finished.Status != knowledge.RunCompleted {
		t.Errorf("status %s; %s", finished.Status, diff)
	}
	shown := 0
	for _, topic := range topics(finished.Items) {
		if topic == stream.TopicAttachment {
			shown++
		}
	}
	if shown != 4 {
		t.Errorf("%d events: %v", shown, topics(finished.Items))
	}
}
