package ingestion

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// withTranscripts makes a transcript part of the recording of the same name on the same
// page: talk.vtt or talk.srt of talk.mp3. It is no object of its own then.
func withTranscripts(objects []source.Object) []source.Object {
	var keys []string
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	paired := map[int]bool{}
	for recording, beside := range extract.PairTranscripts(keys) {
		transcript := objects[beside]
		objects[recording].Transcript, paired[beside] = &transcript, true
	}
	var kept []source.Object
	for i, o := range objects {
		if !paired[i] {
			kept = append(kept, o)
		}
	}
	return kept
}

// storeTranscript stores the transcript of a recording beside its original.
func (b *importBatch) storeTranscript(ctx context.Context, it *importItem, original string) error {
	if it.object.Transcript == nil || !extract.IsSpeech(it.mediaType) {
		return nil
	}
	r, _, err := b.source.Open(ctx, *it.object.Transcript, "")
	if knowledge.IsCode(err, knowledge.CodeNotFound) { // it was removed since the listing
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	limit := b.a.documents.Config.TextBytes
	body := &limited{r: r, left: limit, limit: limit}
	_, err = b.a.documents.Blobs.PutReader(ctx, blob.BesideUpload(original, blob.Transcript), body)
	switch {
	case body.err != nil:
		return body.err
	case err != nil:
		return fmt.Errorf("store a transcript: %w", err)
	}
	return nil
}
