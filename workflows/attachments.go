package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// awaitAttachments waits for what is attached to the question.
func (a *answer) awaitAttachments(ctx workflow.Context) (err error) {
	a.loop.Attachments, err = awaitAttachments(ctx, a.in.RunRef, a.in.Attachments, func(_ workflow.Context, shown stream.Entry) { a.log.Append(shown) })
	return err
}

// awaitAttachments waits for what is attached to the question of a research. The wait does
// not count as work.
func (r *research) awaitAttachments(ctx workflow.Context) (err error) {
	if len(r.in.Attachments) == 0 || r.Attachments != nil {
		return nil
	}
	r.Attachments, err = awaitAttachments(ctx, r.in.RunRef, r.in.Attachments, func(ctx workflow.Context, shown stream.Entry) { r.log.publish(ctx, shown) })
	r.resumed = workflow.Now(ctx)
	return err
}

// awaitAttachments waits until documents that are attached to a question have been
// ingested, each for at most knowledge.AttachmentTime. show publishes the outcome of each
// as it comes.
func awaitAttachments(ctx workflow.Context, run knowledge.RunRef, documents []string, show func(workflow.Context, stream.Entry)) ([]knowledge.AttachedDocument, error) {
	var acts answering.Activities // for the names of its methods only
	const summary = "wait for the attachments"
	workflow.SetCurrentDetails(ctx, summary)
	until := workflow.Now(ctx).Add(knowledge.AttachmentTime)
	waited := make([]knowledge.AttachedDocument, len(documents))
	var failed error
	group := workflow.NewWaitGroup(ctx)
	for i, id := range documents {
		waited[i] = knowledge.AttachedDocument{DocumentID: id, Status: knowledge.StatusPending}
		show(ctx, attachmentShown(waited[i]))
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			in := answering.AttachmentInput{RunRef: run, Document: id, Until: until}
			if err := execute(activityOptions(ctx, summary, 2*knowledge.AttachmentTime, storeRetries()), acts.AwaitAttachment, in, &waited[i]); err != nil {
				failed = err
				return
			}
			show(ctx, attachmentShown(waited[i]))
		})
	}
	group.Wait(disconnected(ctx))
	if ctx.Err() != nil {
		return waited, ctx.Err()
	}
	return waited, failed
}

func attachmentShown(d knowledge.AttachedDocument) stream.Entry {
	return record.Entry(stream.TopicAttachment, stream.Event{Data: stream.Data(d)})
}
