package record

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// SearchFirst reports whether the prompt of a question has a place for passages,
// so that a search comes before the first model call.
func SearchFirst(r knowledge.Request) bool { return prompt.WantsContext(PromptTemplate(r)) }

// PromptTemplate returns the template of the system message. The template of a tool
// always has a place for passages, because a tool searches only once.
func PromptTemplate(r knowledge.Request) string {
	switch {
	case r.Web != nil && r.Config.AI.Prompt == "":
		return prompt.Web
	case r.Kind == knowledge.KindTool:
		return prompt.WithContext(r.Config.AI.Prompt)
	}
	return r.Config.AI.Prompt
}

// RequestBlobs is the part of the blob store that ReadRequest uses.
type RequestBlobs interface {
	// GetJSON decodes the blob under key into v. It returns blob.ErrNotFound if there
	// is none.
	GetJSON(ctx context.Context, key string, v any) error
}

// ReadRequest returns the request of a run, changed as its webhooks answered, or
// blob.ErrNotFound if there is none.
func ReadRequest(ctx context.Context, blobs RequestBlobs, run knowledge.RunRef) (r knowledge.Request, err error) {
	if err := blobs.GetJSON(ctx, run.RequestKey(), &r); err != nil {
		return r, fmt.Errorf("read request of run %s: %w", run.Run, err)
	}
	if len(r.Webhooks) == 0 {
		return r, nil
	}
	record, err := ReadWebhooks(ctx, blobs, run)
	if record != nil {
		record.Apply(&r)
	}
	return r, err
}
