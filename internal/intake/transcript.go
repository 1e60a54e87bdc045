package intake

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
)

// pairTranscripts makes a transcript part of the recording of the same name that came in
// the same batch: talk.vtt or talk.srt of talk.mp3. It becomes no document of its own.
func (b *Batch) pairTranscripts() {
	var names []string
	for _, f := range b.files {
		names = append(names, f.sent)
	}
	paired := map[int]bool{}
	for place, beside := range extract.PairTranscripts(names) {
		recording, transcript := &b.files[place], b.files[beside]
		if transcript.taken == nil && extract.IsTranscript(transcript.version.MediaType) && extract.IsSpeech(recording.mediaType()) {
			recording.transcript, paired[beside] = transcript.version.SourceKey, true
		}
	}
	var kept []file
	for i, f := range b.files {
		if !paired[i] {
			kept = append(kept, f)
		}
	}
	b.files = kept
}

// mediaType returns the media type of a file, as an earlier try of the request found it
// if that took the file in.
func (f file) mediaType() string {
	if f.taken != nil {
		return f.taken.Document.MediaType
	}
	return f.version.MediaType
}

// keepTranscript moves the transcript of a recording to where its ingestion looks for it.
// If an earlier try of the request took the recording in, it has its transcript.
func (in *Intake) keepTranscript(ctx context.Context, f *file) error {
	if f.transcript == "" {
		return nil
	}
	if f.taken == nil {
		ref, err := in.copyBlob(ctx, f.transcript, blob.BesideUpload(f.version.SourceKey, blob.Transcript))
		if err != nil {
			return fmt.Errorf("keep a transcript: %w", err)
		}
		f.version.Digest = digest(f.version.Digest, ref.SHA256)
	}
	if err := in.deps.Blobs.Delete(ctx, f.transcript); err != nil {
		return fmt.Errorf("keep a transcript: %w", err)
	}
	f.transcript = ""
	return nil
}

// copyBlob stores what is under a key under another one too.
func (in *Intake) copyBlob(ctx context.Context, from, to string) (blob.Ref, error) {
	reader, _, err := in.deps.Blobs.Open(ctx, from)
	if err != nil {
		return blob.Ref{}, err
	}
	defer reader.Close()
	return in.deps.Blobs.PutReader(ctx, to, reader)
}
