package answering

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// maxShown and maxShownBytes bound the pictures of one model call.
const (
	maxShown      = 4
	maxShownBytes = 6 << 20
)

// picturesOf returns the pictures of the passages that are pictures, the best ranks
// first. The principal of the run may read these passages now. A picture that is gone,
// or that its version was ingested without, is left out.
func (a *CallingModels) picturesOf(ctx context.Context, passages []retrieve.Context) ([]model.Picture, error) {
	var pictures []model.Picture
	seen := map[string]bool{}
	room := maxShownBytes
	for _, p := range passages {
		if p.Modality != knowledge.ModalityImage {
			continue
		}
		ref := knowledge.VersionRef{Workspace: p.Document.Workspace, Project: p.Document.Project, Document: p.DocumentID, Version: p.Version}
		for _, name := range p.Figures {
			key := step.ShownKey(ref, name)
			if len(pictures) == maxShown || seen[key] {
				continue
			}
			seen[key] = true
			data, err := a.Blobs.Get(ctx, key)
			if err != nil && !errors.Is(err, blob.ErrNotFound) {
				return nil, fmt.Errorf("read a picture of passage %s: %w", p.ID, err)
			}
			if err != nil || len(data) > room {
				continue
			}
			room -= len(data)
			pictures = append(pictures, model.Picture{
				Label: fmt.Sprintf("The picture of <source_%d>:", p.Rank), MediaType: http.DetectContentType(data), Data: data,
			})
		}
	}
	return pictures, nil
}

// withoutPictures returns a request without the pictures in its messages. ok is false
// if it has none.
func withoutPictures(r model.ChatRequest) (plain model.ChatRequest, ok bool) {
	plain = r
	plain.Messages = append([]model.Message(nil), r.Messages...)
	for i := range plain.Messages {
		ok = ok || len(plain.Messages[i].Pictures) > 0
		plain.Messages[i].Pictures = nil
	}
	return plain, ok
}
