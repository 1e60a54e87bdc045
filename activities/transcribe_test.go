package activities_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// wav begins a recording.
const wav = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"

// heard is how often the model was asked to transcribe a recording.
func (f *fixture) heard() int { return f.server.Totals().Transcriptions.Asked }

func TestRecording(t *testing.T) {
	t.Parallel()

	t.Run("becomes passages with their seconds", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("talk.wav", wav)
		f.publish(in)
		chunks := f.chunks(in)
		if len(chunks) != 1 || chunks[0].Modality != knowledge.ModalityAudio || chunks[0].Time != (knowledge.Seconds{Start: .5, End: 6}) ||
			chunks[0].Text != "The swing bridge opens at nine. Ferries wait for the pilot." {
			t.Errorf("chunks %+v", chunks)
		}
		v, err := f.store.Version(f.ctx, in.VersionRef)
		f.must(err)
		if diff := cmp.Diff(map[string]any{"duration": "6.5", "language": "english"}, v.Metadata); diff != "" || v.MediaType != "audio/wav" {
			t.Errorf("%s%s", v.MediaType, diff)
		}
		if found := f.finds("ferries"); len(found) != 1 || f.parser.calls != 0 {
			t.Errorf("found %q, parsed %d times", found, f.parser.calls)
		}
	})

	t.Run("a reingest does not ask the model again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("talk.wav", wav)
		f.publish(in)
		again := f.upload("talk.wav", wav, func(nv *store.NewVersion) { nv.SourceKey = f.source(in) }) // a reingest
		f.publish(again)
		if f.heard() != 1 {
			t.Errorf("it was transcribed %d times", f.heard())
		}
	})

	t.Run("waits as the provider asks", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.server.ScriptTranscriptions(modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "3600"))
		in := f.upload("talk.wav", wav)
		if prepared, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in}); err != nil || !prepared.Speech {
			t.Fatalf("prepared %+v, %v", prepared, err)
		}
		_, err := do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
		f.failed(err, knowledge.CodeProviderFailed, true)
		other := f.upload("other.wav", wav)
		_, err = do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: other})
		f.must(err)
		_, err = do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: other}) // which is not even sent
		if !activities.IsHeld(err) || f.heard() != 1 {
			t.Errorf("%v after %d requests", err, f.heard())
		}
	})

	t.Run("needs a model, and is read when there is one", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		transcriber := f.ingestion.Transcriber
		f.ingestion.Transcriber = nil
		in := f.upload("talk.wav", wav)
		_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in})
		f.must(err)
		_, err = do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
		f.failed(err, knowledge.CodeNeedsComponent, false)
		if !strings.Contains(err.Error(), "models.transcription") {
			t.Error(err)
		}
		f.ingestion.Transcriber = transcriber
		f.publish(in)
	})

	t.Run("goes with its transcript", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("talk.wav", wav)
		f.publish(in)
		f.publish(f.upload("talk.wav", wav)) // another original
		if left := f.keys(blob.UploadFolder(f.source(in))); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	})
}

// source is the key of the original of a version.
func (f *fixture) source(in activities.StepInput) string {
	f.Helper()
	v, err := f.store.Version(f.ctx, in.VersionRef)
	f.must(err)
	return v.SourceKey
}

func TestRecordingThatEndsAsStated(t *testing.T) {
	t.Parallel()
	for behaviour, tc := range map[string]struct {
		reply     modeltest.Reply
		code      knowledge.Code
		retryable bool
	}{
		"silence":                     {modeltest.Heard("english", 3), knowledge.CodeEmpty, false},
		"a truncated recording":       {modeltest.Reply{Status: 400, Body: `{"error":{"message":"The audio file could not be decoded."}}`}, knowledge.CodeCorrupt, false},
		"an endpoint that fails":      {modeltest.Fail(http.StatusInternalServerError), knowledge.CodeProviderFailed, true},
		"an answer that is not one":   {modeltest.Garbage(), knowledge.CodeProviderFailed, true},
		"a refused key":               {modeltest.Fail(http.StatusUnauthorized), knowledge.CodeProviderFailed, false},
		"too large without ffmpeg":    {modeltest.Fail(http.StatusRequestEntityTooLarge), knowledge.CodeNeedsComponent, false},
		"a model that knows no times": {modeltest.Reply{Status: 200, Body: `{"text":"words"}`}, knowledge.CodeProviderFailed, false},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.server.ScriptTranscriptions(tc.reply)
			in := f.upload("talk.wav", wav)
			_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in})
			f.must(err)
			_, err = do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
			f.failed(err, tc.code, tc.retryable)
		})
	}
}

func TestLongRecording(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.parser.parts = []string{"first", "second", "third"}
	said := func(text string) modeltest.Reply {
		return modeltest.Heard("german", 1200, model.Speech{Start: 1, End: 2, Text: text})
	}
	f.server.ScriptTranscriptions(modeltest.Fail(http.StatusRequestEntityTooLarge), said("Eins."), said("Zwei."), modeltest.Fail(http.StatusInternalServerError))
	in := f.upload("talk.wav", wav)
	_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in})
	f.must(err)
	_, err = do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
	f.failed(err, knowledge.CodeProviderFailed, true)
	f.server.ScriptTranscriptions(said("Drei."))
	f.publish(in)
	var layout knowledge.Layout
	f.must(f.blobs.GetJSON(f.ctx, blob.StepKey(in.VersionRef, "layout.json"), &layout))
	block := func(start float64, text string) knowledge.Block {
		return knowledge.Block{Kind: knowledge.BlockParagraph, Text: text, Time: knowledge.Seconds{Start: start, End: start + 1}}
	}
	if diff := cmp.Diff([]knowledge.Block{block(1, "Eins."), block(1201, "Zwei."), block(2401, "Drei.")}, layout.Blocks, cmpopts.IgnoreFields(knowledge.Block{}, "Speech")); diff != "" {
		t.Error(diff)
	}
	if layout.Metadata["duration"] != "3600" {
		t.Errorf("duration %s", layout.Metadata["duration"])
	}
	for content, want := range map[string]int{"first": 1, "second": 1, "third": 2} {
		if got := f.server.Transcriptions()[modeltest.RecordingKey([]byte(content))]; got.Asked != want || got.Answered != 1 {
			t.Errorf("the %s part was asked for %d times and answered %d times", content, got.Asked, got.Answered)
		}
	}
}

// TestSlowModel: a recording that takes too long as a whole is transcribed in parts, if it
// can be cut.
func TestSlowModel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parts []string
		code  knowledge.Code // "" = it is published
	}{"in parts": {[]string{"first", "second"}, ""}, "without ffmpeg": {nil, knowledge.CodeProviderFailed}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.parser.parts = tc.parts
			f.server.ScriptTranscriptions(modeltest.Fail(http.StatusGatewayTimeout))
			in := f.upload("talk.wav", wav)
			if tc.code == "" {
				f.publish(in)
				return
			}
			_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in})
			f.must(err)
			_, err = do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
			f.failed(err, tc.code, true)
		})
	}
}

func TestTranscriptBesideTheRecording(t *testing.T) {
	t.Parallel()
	given := func(f *fixture, text string) activities.StepInput {
		f.Helper()
		in := f.upload("talk.wav", wav)
		_, err := f.blobs.Put(f.ctx, blob.BesideUpload(f.source(in), blob.Transcript), []byte(text))
		f.must(err)
		return in
	}

	t.Run("is read instead of asking the model", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.ingestion.Transcriber = nil
		in := given(f, "WEBVTT\n\n00:01.000 --> 00:02.500\nThe pilot boards at dawn.\n")
		f.publish(in)
		chunks := f.chunks(in)
		if len(chunks) != 1 || chunks[0].Time != (knowledge.Seconds{Start: 1, End: 2.5}) || chunks[0].Modality != knowledge.ModalityAudio || chunks[0].Origin != (knowledge.Origin{}) {
			t.Errorf("chunks %+v", chunks)
		}
		if v, err := f.store.Version(f.ctx, in.VersionRef); err != nil || v.MediaType != "audio/wav" || f.heard() != 0 {
			t.Errorf("%s, %v, asked %d times", v.MediaType, err, f.heard())
		}
	})

	t.Run("that is none is an error that says so", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := given(f, "Minutes of a meeting")
		_, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in})
		f.must(err)
		_, err = do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
		f.failed(err, knowledge.CodeCorrupt, false)
		if !strings.Contains(err.Error(), "transcript") || f.heard() != 0 {
			t.Errorf("%v, asked %d times", err, f.heard())
		}
	})
}
