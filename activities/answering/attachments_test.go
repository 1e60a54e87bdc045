package answering_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestAwaitAttachment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		become func(f *fixture, d ingestion.StepInput)
		wait   time.Duration
		want   knowledge.AttachedDocument
	}{
		"a document that is published while the question waits": {func(f *fixture, d ingestion.StepInput) { f.Publish(d) }, time.Minute, knowledge.AttachedDocument{Status: knowledge.StatusPublished}},
		"a document that fails": {func(f *fixture, d ingestion.StepInput) {
			f.Must(f.Store.FailVersion(f.Ctx, d.VersionRef, d.Run, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "no"}))
		}, time.Minute, knowledge.AttachedDocument{Status: knowledge.StatusError, Code: knowledge.CodeCorrupt}},
		"a document that is removed":     {func(f *fixture, d ingestion.StepInput) { f.Remove(d.Document) }, time.Minute, knowledge.AttachedDocument{Status: knowledge.StatusError, Code: knowledge.CodeNotFound}},
		"a document that takes too long": {func(*fixture, ingestion.StepInput) {}, 0, knowledge.AttachedDocument{Status: knowledge.StatusPending}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.AnswerWith(func(d *answering.Dependencies) { d.Library = f.Store })
			d := f.Upload("first.txt", "apples")
			run := f.Ask("apples", func(r *knowledge.Request) { r.Principal = activitytest.Manager() })
			var got knowledge.AttachedDocument
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				got, err = do(f, f.Answering.AwaitAttachment, answering.AttachmentInput{RunRef: run, Document: d.Document, Until: time.Now().Add(test.wait)})
			}()
			test.become(f, d)
			<-done
			f.Must(err)
			test.want.DocumentID = d.Document
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAttachmentsInThePrompt: the model is told which files came with the question, and is
// shown the pictures among them.
func TestAttachmentsInThePrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.AnswerWith(func(d *answering.Dependencies) { d.Library = f.Store })
	conversation := "c"
	attach := func(nv *store.NewVersion) {
		nv.ConversationID = &conversation
		if strings.HasSuffix(nv.Name, ".png") {
			nv.MediaType = "image/png"
		}
	}
	read, picture, failed := f.Upload("read.txt", "apples", attach), f.Upload("seen.png", pngHeader, attach), f.Upload("\"bad\"\n.pdf", "%PDF-", attach)
	f.Publish(read)
	f.Publish(f.Upload("other.txt", "apples of others"))
	f.Must(f.Store.FailVersion(f.Ctx, picture.VersionRef, picture.Run, knowledge.DocumentError{Code: knowledge.CodeNeedsComponent, Stage: knowledge.StageExtract, Message: "needs tesseract"}))
	f.Must(f.Store.FailVersion(f.Ctx, failed.VersionRef, failed.Run, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "is broken"}))
	in := f.Asked(func(r *knowledge.Request) {
		r.Principal = knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "k", User: "ann", ConversationID: conversation, Scopes: []knowledge.Scope{knowledge.ScopeRead}})
	})
	in.Loop.Attachments = []knowledge.AttachedDocument{
		{DocumentID: read.Document, Status: knowledge.StatusPublished}, {DocumentID: picture.Document, Status: knowledge.StatusError}, {DocumentID: failed.Document, Status: knowledge.StatusError},
	}
	f.Server.ScriptChat(modeltest.Text("Apples."))
	_, err := do(f, f.Answering.CallModel, in)
	f.Must(err)
	sent := f.Sent()
	for _, line := range []string{
		`- "read.txt": file_search searches it`, `- "seen.png": shown as a picture; its text could not be read`, `- "&quot;bad&quot; .pdf": not available, is broken.`,
	} {
		if !strings.Contains(sent, line) {
			t.Errorf("the model does not read %s, but %s", line, sent)
		}
	}
	requests := f.Server.Requests()
	messages := requests[len(requests)-1].Messages
	if shown := messages[len(messages)-1].Pictures; len(shown) != 1 {
		t.Errorf("the model is shown %d pictures", len(shown))
	}
}

// pngHeader begins a picture.
const pngHeader = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
