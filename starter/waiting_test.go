package main

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestDocumentWait(t *testing.T) {
	t.Parallel()
	w := knowledge.Waiting{Attempt: 3, Of: 60, NextAt: time.Now().Add(-time.Minute), Message: "the endpoint is limiting requests"}
	if got := documentWait(w); got != "attempt 3 of 60, next now: the endpoint is limiting requests" {
		t.Error(got)
	}
	w.Code = knowledge.CodeProviderFailed
	if got := waitingCause(w); got != "provider_failed: the endpoint is limiting requests (attempt 3 of 60, next now)" {
		t.Errorf("in a table: %s", got)
	}
	w.Attempt = 0
	if got := documentWait(w); got != "first attempt of 60 now: the endpoint is limiting requests" {
		t.Errorf("a document that was not tried: %s", got)
	}
}
