package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// awaitAttachments waits until what is attached to the question has been ingested, each
// for at most knowledge.AttachmentTime. Readers see the outcome of each as it comes.
func (a *answer) awaitAttachments(ctx workflow.Context) error {
	const summary = "wait for the attachments"
	workflow.SetCurrentDetails(ctx, summary)
	until := workflow.Now(ctx).Add(knowledge.AttachmentTime)
	waited := make([]knowledge.AttachedDocument, len(a.in.Attachments))
	var failed error
	group := workflow.NewWaitGroup(ctx)
	for i, id := range a.in.Attachments {
		waited[i] = knowledge.AttachedDocument{DocumentID: id, Status: knowledge.StatusPending}
		a.showAttachment(waited[i])
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			in := activities.AttachmentInput{RunRef: a.in.RunRef, Document: id, Until: until}
			if err := execute(activityOptions(ctx, summary, 2*knowledge.AttachmentTime, storeRetries()), a.acts.AwaitAttachment, in, &waited[i]); err != nil {
				failed = err
				return
			}
			a.showAttachment(waited[i])
		})
	}
	group.Wait(disconnected(ctx))
	a.loop.Attachments = waited
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failed
}

func (a *answer) showAttachment(d knowledge.AttachedDocument) {
	a.log.add(stream.TopicAttachment, stream.Event{Data: stream.Data(d)})
}
