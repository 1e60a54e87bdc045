package intake_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestDocumentOfAConversation puts documents into conversations of the users of
// an application.
func TestDocumentOfAConversation(t *testing.T) {
	t.Parallel()
	f := open(t)
	anns, bobs := f.conversation(f.as("ann")), f.conversation(f.as("bob"))
	attach := func(p knowledge.Principal, user, conversation string) (knowledge.Document, error) {
		taken, err := f.intake.Take(t.Context(), p, f.project, intake.Run{ID: knowledge.NewID()}, intake.Document{
			Content: text("one"), Attributes: intake.Attributes{ExternalUserID: user, ConversationID: conversation},
		})
		return taken.Document, err
	}
	t.Run("of the external user beside it", func(t *testing.T) {
		d, err := attach(f.editor, "ann", anns)
		if err != nil || d.ConversationID != anns || d.ExternalUserID != "" {
			t.Fatalf("for %q in %q, %v: it is the conversation's alone", d.ExternalUserID, d.ConversationID, err)
		}
	})
	t.Run("of another user", func(t *testing.T) {
		_, err := attach(f.editor, "ann", bobs)
		refused(t, err, knowledge.CodeNotFound)
	})
	t.Run("of the key itself", func(t *testing.T) {
		_, err := attach(f.editor, "ann", f.conversation(f.editor))
		refused(t, err, knowledge.CodeNotFound)
	})
	t.Run("of another user than the request acts for", func(t *testing.T) {
		d, err := attach(f.as("bob"), "ann", anns)
		if err != nil || d.ConversationID != anns {
			t.Errorf("in %q, %v", d.ConversationID, err)
		}
	})
	t.Run("beside a user of the platform", func(t *testing.T) {
		p, err := f.access.As(t.Context(), f.editor, access.Acting{User: "carl"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = attach(p, "ann", f.conversation(p))
		refused(t, err, knowledge.CodeInvalid, "body.externalUserId")
	})
	t.Run("without a user", func(t *testing.T) {
		_, err := attach(f.editor, "", anns)
		refused(t, err, knowledge.CodeNotFound)
		if _, err := attach(f.editor, "", f.conversation(f.editor)); err != nil {
			t.Error(err)
		}
	})
}
