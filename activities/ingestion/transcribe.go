package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/transcript"
)

// wholeRecording is the largest recording, in bytes, that is sent as it is where it can
// be cut. OpenAI takes no larger one.
const wholeRecording = 25 << 20

// speech hears recordings.
type speech struct {
	Blobs       step.Blobs
	Extractor   Extractor
	Transcriber Transcriber
	Metrics     Metrics
	bounds      *bounds
	files       *files
	answers     *answers
}

// readSpeech returns the layout of a recording: of the transcript that came with it, or
// else of what a model hears.
func (a *speech) readSpeech(ctx context.Context, v store.Version) (knowledge.Layout, error) {
	key := blob.BesideUpload(v.SourceKey, blob.Transcript)
	given, err := a.Blobs.Exists(ctx, key)
	if err != nil {
		return knowledge.Layout{}, fmt.Errorf("look for a transcript: %w", err)
	}
	if given {
		return a.readTranscript(ctx, v, key)
	}
	if v.Enrichment.Privacy.Providers {
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeConflict,
			"the recording is not sent to a model, because personal data may be heard in it (privacy.providers of its project is redact): upload it with its transcript, a .vtt or .srt file of the same name")
	}
	if a.Transcriber == nil {
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeNeedsComponent,
			"reading a recording needs a model that transcribes it: set models.transcription, restart, and retry the document; or upload it with its transcript, a .vtt or .srt file of the same name")
	}
	heard, err := a.hear(ctx, v)
	if err != nil {
		return knowledge.Layout{}, refusedRecording(err)
	}
	return heardLayout(v.MediaType, heard)
}

// readTranscript returns the layout of a recording whose transcript is stored under key.
func (a *speech) readTranscript(ctx context.Context, v store.Version, key string) (knowledge.Layout, error) {
	path, remove, err := a.files.localCopy(ctx, key)
	if err != nil {
		return knowledge.Layout{}, err
	}
	defer remove()
	result, err := a.Extractor.Extract(ctx, extract.Input{Name: "transcript.vtt", Path: path})
	if err == nil && result.Layout.Modality != knowledge.ModalityAudio {
		err = knowledge.Errorf(knowledge.CodeCorrupt, "it is neither WebVTT nor SubRip")
	}
	if refused, ok := errors.AsType[*knowledge.Error](err); ok && !refused.Retryable {
		return knowledge.Layout{}, knowledge.Errorf(refused.Code, "the transcript of the recording cannot be read: %s", refused.Message).WithCause(err)
	}
	layout := result.Layout
	layout.MediaType = v.MediaType
	for i := range layout.Blocks {
		layout.Blocks[i].Origin = knowledge.Origin{} // lines of the transcript, which is not the original
	}
	return layout, err
}

// hear returns what a model hears in a recording. One that is too large for a request, or
// takes too long, is cut into parts where that is possible.
func (a *speech) hear(ctx context.Context, v store.Version) (model.Transcript, error) {
	begun, err := a.Blobs.Exists(ctx, a.heardKey(v, partName(0)))
	if err != nil {
		return model.Transcript{}, fmt.Errorf("look for a transcript: %w", err)
	}
	if begun || v.Bytes > wholeRecording {
		heard, err := a.hearParts(ctx, v)
		if !knowledge.IsCode(err, knowledge.CodeNeedsComponent) {
			return heard, err
		}
	}
	kind, _ := extract.FormatOf(v.MediaType) // it is one of a recording
	heard, err := a.transcribe(ctx, v, recording{
		key: a.heardKey(v, "whole"), name: "recording." + kind.Extensions[0], bytes: v.Bytes,
		open: func() (io.ReadCloser, error) {
			r, _, err := a.Blobs.Open(ctx, v.SourceKey)
			return r, err
		},
	})
	refused, _ := errors.AsType[*model.Error](err)
	switch {
	case refused == nil:
		return heard, err
	case refused.Code == model.CodeTooLarge:
		return a.hearParts(ctx, v)
	case refused.Code == model.CodeTimeout, // a slow endpoint may still hear it in parts
		refused.Code == model.CodeUnreadable && kind.MediaType == extract.TypeAAC: // not all know this kind, but all know the kind of the parts
		if parts, err := a.hearParts(ctx, v); !knowledge.IsCode(err, knowledge.CodeNeedsComponent) {
			return parts, err
		}
	}
	return heard, err
}

// hearParts cuts a recording into parts and transcribes one after the other. Without the
// program that cuts, it returns CodeNeedsComponent.
func (a *speech) hearParts(ctx context.Context, v store.Version) (all model.Transcript, err error) {
	folder, remove, err := a.files.resultFolder()
	if err != nil {
		return all, err
	}
	defer remove()
	cut, err := a.files.extract(ctx, a.Extractor, v, folder, nil)
	if err != nil {
		return all, err
	}
	for n, part := range cut.Assets {
		path := filepath.Join(folder, filepath.Base(part.File))
		info, err := os.Stat(path)
		if err != nil {
			return all, fmt.Errorf("stat a part of the recording: %w", err)
		}
		heard, err := a.transcribe(ctx, v, recording{
			key: a.heardKey(v, partName(n)), name: part.Name, bytes: info.Size(),
			open: func() (io.ReadCloser, error) { return os.Open(path) },
		})
		if err != nil {
			return all, err
		}
		appendPart(&all, heard, float64(n*extract.PartSeconds))
	}
	return all, nil
}

// appendPart appends the transcript of a part that begins at a second of the recording.
func appendPart(all *model.Transcript, part model.Transcript, start float64) {
	if all.Language == "" {
		all.Language = part.Language
	}
	all.Duration = start + part.Duration
	for _, s := range part.Segments {
		s.Start, s.End = start+s.Start, start+s.End
		all.Segments = append(all.Segments, s)
	}
}

// recording is what one request transcribes.
type recording struct {
	key   string // of the blob of its transcript
	name  string // tells the endpoint its kind
	bytes int64
	open  func() (io.ReadCloser, error)
}

func partName(n int) string { return fmt.Sprintf("%04d", n) }

// heardKey returns the key of what a model hears in a part of a recording. It is beside
// the original, so that no later version pays for it again.
func (a *speech) heardKey(v store.Version, part string) string {
	endpoint := a.Transcriber.Endpoint()
	sum := sha256.Sum256([]byte(endpoint.Provider + "\n" + endpoint.Model))
	return blob.BesideUpload(v.SourceKey, "heard-"+hex.EncodeToString(sum[:6])+"-"+part+".json")
}

// transcribe returns the stored transcript of a recording. If there is none, it requests
// and stores it.
func (a *speech) transcribe(ctx context.Context, v store.Version, r recording) (heard model.Transcript, err error) {
	err = a.Blobs.GetJSON(ctx, r.key, &heard)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return heard, err
	}
	release, err := a.bounds.hear(ctx, r.bytes)
	if err != nil {
		return heard, err
	}
	defer release()
	// The step is not told whether it was held before, so it counts as if it was.
	if err := a.Transcriber.TakeTurn(ctx, 0, model.Turn{Patience: turnPatience, Waited: true}); err != nil {
		return heard, err
	}
	start := time.Now()
	heard, err = a.Transcriber.Transcribe(ctx, r.name, r.open)
	a.Metrics.ModelCall(a.Transcriber.Endpoint().Provider, "transcription", step.Outcome(err), time.Since(start).Seconds(), 0, 0)
	if err != nil {
		return heard, err
	}
	data, err := json.Marshal(heard)
	if err != nil {
		return heard, fmt.Errorf("encode a transcript: %w", err)
	}
	if err := a.answers.putAnswer(ctx, v, r.key, data, knowledge.Usage{ModelCalls: 1}); err != nil {
		return heard, fmt.Errorf("store a transcript: %w", err)
	}
	return heard, nil
}

// refusedRecording returns the error of the document if an endpoint refused the recording
// itself.
func refusedRecording(err error) error {
	refused, ok := errors.AsType[*model.Error](err)
	if !ok {
		return err
	}
	cause := errors.New(refused.Error()) // not the error itself, which would count as one of the provider
	switch refused.Code {
	case model.CodeUnreadable:
		return knowledge.Errorf(knowledge.CodeCorrupt, "the model that transcribes cannot decode the recording; convert it to MP3 or WAV and send the new file").WithCause(cause)
	case model.CodeTooLarge:
		return knowledge.Errorf(knowledge.CodeTooLarge, "the recording is too long for the model that transcribes; split it").WithCause(cause)
	}
	return err
}

// heardLayout returns the layout of what a model hears. Silence is CodeEmpty.
func heardLayout(mediaType string, heard model.Transcript) (knowledge.Layout, error) {
	cues := make([]transcript.Cue, 0, len(heard.Segments))
	for _, s := range heard.Segments {
		cues = append(cues, transcript.Cue{Time: knowledge.Seconds{Start: s.Start, End: s.End}, Text: s.Text})
	}
	layout := knowledge.Layout{
		MediaType: mediaType, Modality: knowledge.ModalityAudio, Metadata: map[string]string{}, Blocks: transcript.Blocks(cues),
	}
	if len(layout.Blocks) == 0 {
		return layout, knowledge.Errorf(knowledge.CodeEmpty, "no speech was heard in the recording; send one in which somebody speaks")
	}
	if heard.Duration > 0 {
		layout.Metadata["duration"] = strconv.FormatFloat(heard.Duration, 'f', -1, 64)
	}
	if heard.Language != "" {
		layout.Metadata["language"] = heard.Language
	}
	return layout, nil
}

// endPause ends the pause that the provider asked for, if now says that somebody asked
// to try a recording at once.
func (a *speech) endPause(ctx context.Context, v store.Version, now bool) error {
	if !now || a.Transcriber == nil || !extract.IsSpeech(v.MediaType) {
		return nil
	}
	return a.Transcriber.TakeTurn(ctx, 0, model.Turn{Now: true, Look: true})
}
