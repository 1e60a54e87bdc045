package ingestion_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// wav begins a recording.
const wav = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"

// heard is how often the model was asked to transcribe a recording.
func (f *fixture) heard() int { return f.Server.Totals().Transcriptions.Asked }

func TestRecording(t *testing.T) {
	t.Parallel()

	t.Run("becomes passages with their seconds", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("talk.wav", wav)
		f.Publish(in)
		chunks := f.Chunks(in)
		if len(chunks) != 1 || chunks[0].Modality != knowledge.ModalityAudio || chunks[0].Time != (knowledge.Seconds{Start: .5, End: 6}) ||
			chunks[0].Text != "The swing bridge opens at nine. Ferries wait for the pilot." {
			t.Errorf("chunks %+v", chunks)
		}
		v, err := f.Store.Version(f.Ctx, in.VersionRef)
		f.Must(err)
		if diff := cmp.Diff(map[string]any{"duration": 6.5, "language": "english"}, v.Metadata); diff != "" || v.MediaType != "audio/wav" {
			t.Errorf("%s%s", v.MediaType, diff)
		}
		if found := f.Finds("ferries"); len(found) != 1 || f.Parser.Calls != 0 {
			t.Errorf("found %q, parsed %d times", found, f.Parser.Calls)
		}
	})

	t.Run("a reingest does not ask the model again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("talk.wav", wav)
		f.Publish(in)
		again := f.Upload("talk.wav", wav, func(nv *store.NewVersion) { nv.SourceKey = f.source(in) }) // a reingest
		f.Publish(again)
		if f.heard() != 1 {
			t.Errorf("it was transcribed %d times", f.heard())
		}
	})

	t.Run("waits as the provider asks", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Server.ScriptTranscriptions(modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "3600"))
		in := f.Upload("talk.wav", wav)
		if prepared, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in}); err != nil || !prepared.Speech {
			t.Fatalf("prepared %+v, %v", prepared, err)
		}
		_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeProviderFailed, true)
		other := f.Upload("other.wav", wav)
		_, err = do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: other})
		f.Must(err)
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: other}) // which is not even sent
		if !step.IsHeld(err) || f.heard() != 1 {
			t.Errorf("%v after %d requests", err, f.heard())
		}
	})

	t.Run("needs a model, and is read when there is one", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		transcriber := f.IngestionUses.Transcriber
		f.IngestWith(func(d *ingestion.Dependencies) { d.Transcriber = nil })
		in := f.Upload("talk.wav", wav)
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.Must(err)
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeNeedsComponent, false)
		if !strings.Contains(err.Error(), "models.transcription") {
			t.Error(err)
		}
		f.IngestWith(func(d *ingestion.Dependencies) { d.Transcriber = transcriber })
		f.Publish(in)
	})

	t.Run("goes with its transcript", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("talk.wav", wav)
		f.Publish(in)
		f.Publish(f.Upload("talk.wav", wav)) // another original
		if left := f.Keys(blob.UploadFolder(f.source(in))); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	})
}

// source is the key of the original of a version.
func (f *fixture) source(in ingestion.StepInput) string {
	f.Helper()
	v, err := f.Store.Version(f.Ctx, in.VersionRef)
	f.Must(err)
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
			f.Server.ScriptTranscriptions(tc.reply)
			in := f.Upload("talk.wav", wav)
			_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
			f.Must(err)
			_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
			f.FailedWith(err, tc.code, tc.retryable)
		})
	}
}

func TestLongRecording(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Parser.Parts = []string{"first", "second", "third"}
	said := func(text string) modeltest.Reply {
		return modeltest.Heard("german", 1200, model.Speech{Start: 1, End: 2, Text: text})
	}
	f.Server.ScriptTranscriptions(modeltest.Fail(http.StatusRequestEntityTooLarge), said("Eins."), said("Zwei."), modeltest.Fail(http.StatusInternalServerError))
	in := f.Upload("talk.wav", wav)
	_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	f.Must(err)
	_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	f.FailedWith(err, knowledge.CodeProviderFailed, true)
	f.Server.ScriptTranscriptions(said("Drei."))
	f.Publish(in)
	var layout knowledge.Layout
	f.Must(f.Blobs.GetJSON(f.Ctx, blob.StepKey(in.VersionRef, "layout.json"), &layout))
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
		if got := f.Server.Transcriptions()[modeltest.RecordingKey([]byte(content))]; got.Asked != want || got.Answered != 1 {
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
			f.Parser.Parts = tc.parts
			f.Server.ScriptTranscriptions(modeltest.Fail(http.StatusGatewayTimeout))
			in := f.Upload("talk.wav", wav)
			if tc.code == "" {
				f.Publish(in)
				return
			}
			_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
			f.Must(err)
			_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
			f.FailedWith(err, tc.code, true)
		})
	}
}

// TestModelThatDoesNotKnowTheKind: AAC, which not every endpoint takes, is transcribed in
// parts, which are MP3. A recording of another kind is damaged if it is refused.
func TestModelThatDoesNotKnowTheKind(t *testing.T) {
	t.Parallel()
	const aac = "\xff\xf1\x50\x80\x01\x1f\xfc\x00\xff\xf1\x50\x80\x01\x1f\xfc\x00"
	for name, tc := range map[string]struct {
		file, content string
		parts         []string
		code          knowledge.Code // "" = it is published
	}{
		"AAC in parts":       {"talk.aac", aac, []string{"first"}, ""},
		"AAC without ffmpeg": {"talk.aac", aac, nil, knowledge.CodeCorrupt},
		"WAV":                {"talk.wav", wav, []string{"first"}, knowledge.CodeCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Parser.Parts = tc.parts
			f.Server.ScriptTranscriptions(modeltest.Reply{Status: 400, Body: `{"error":{"message":"Invalid file format."}}`})
			in := f.Upload(tc.file, tc.content)
			if tc.code == "" {
				f.Publish(in)
				return
			}
			_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
			f.Must(err)
			_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
			f.FailedWith(err, tc.code, false)
		})
	}
}

func TestTranscriptBesideTheRecording(t *testing.T) {
	t.Parallel()
	given := func(f *fixture, text string) ingestion.StepInput {
		f.Helper()
		in := f.Upload("talk.wav", wav)
		_, err := f.Blobs.Put(f.Ctx, blob.BesideUpload(f.source(in), blob.Transcript), []byte(text))
		f.Must(err)
		return in
	}

	t.Run("is read instead of asking the model", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.IngestWith(func(d *ingestion.Dependencies) { d.Transcriber = nil })
		in := given(f, "WEBVTT\n\n00:01.000 --> 00:02.500\nThe pilot boards at dawn.\n")
		f.Publish(in)
		chunks := f.Chunks(in)
		if len(chunks) != 1 || chunks[0].Time != (knowledge.Seconds{Start: 1, End: 2.5}) || chunks[0].Modality != knowledge.ModalityAudio || chunks[0].Origin != (knowledge.Origin{}) {
			t.Errorf("chunks %+v", chunks)
		}
		if v, err := f.Store.Version(f.Ctx, in.VersionRef); err != nil || v.MediaType != "audio/wav" || f.heard() != 0 {
			t.Errorf("%s, %v, asked %d times", v.MediaType, err, f.heard())
		}
	})

	t.Run("that is none is an error that says so", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := given(f, "Minutes of a meeting")
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.Must(err)
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeCorrupt, false)
		if !strings.Contains(err.Error(), "transcript") || f.heard() != 0 {
			t.Errorf("%v, asked %d times", err, f.heard())
		}
	})
}
