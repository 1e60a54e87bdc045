package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestMayRetry retries what a change of the server can help.
func TestMayRetry(t *testing.T) {
	t.Parallel()
	for code, want := range map[knowledge.Code]bool{
		knowledge.CodeNeedsComponent: true, knowledge.CodeLimitReached: true, knowledge.CodeProviderFailed: true,
		knowledge.CodeCorrupt: false, knowledge.CodeEncrypted: false, knowledge.CodeEmpty: false,
	} {
		if got := (knowledge.DocumentError{Code: code}).MayRetry(); got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
	if !(knowledge.DocumentError{Code: knowledge.CodeCorrupt, Retryable: true}).MayRetry() {
		t.Error("an error that says so may be retried")
	}
}
