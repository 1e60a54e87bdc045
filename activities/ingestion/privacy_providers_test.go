package ingestion_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// heard is an embedder that keeps the texts that it is given.
type heard struct {
	ingestion.Embedder

	inProcess bool
	texts     *[]string
}

func (h heard) Endpoint() model.Endpoint {
	e := h.Embedder.Endpoint()
	e.InProcess = h.inProcess
	return e
}

func (h heard) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	*h.texts = append(*h.texts, texts...)
	return h.Embedder.Embed(ctx, texts)
}

// TestEmbeddedTextsWithoutPersonalData embeds a document of a project that keeps personal data from
// models, at an endpoint and in the process.
func TestEmbeddedTextsWithoutPersonalData(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		providers, inProcess, values bool
	}{"kept": {true, false, false}, "in the process": {true, true, true}, "the control": {false, false, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			var texts []string
			f.IngestWith(func(d *ingestion.Dependencies) {
				d.Embedder = heard{d.Embedder, tt.inProcess, &texts}
			})
			p := knowledge.VersionPrivacy{Providers: tt.providers}
			in := f.Upload("letter.txt", "Write to ann@example.org about the mill.", func(nv *store.NewVersion) { nv.Enrichment.Privacy = p })
			f.Embed(in, f.Prepare(in))
			if all := strings.Join(texts, "\n"); strings.Contains(all, "ann@example.org") != tt.values || strings.Contains(all, "<EMAIL_ADDRESS> about") == tt.values {
				t.Errorf("the embedder got %q", texts)
			}
		})
	}
}

// nameless is a recogniser that does not answer.
type nameless struct{}

func (nameless) Recognise(context.Context, []string, []string) ([][]privacy.Finding, error) {
	return nil, privacy.NoAnswer(knowledge.RecogniserAnalyzer, errors.New("connection refused"))
}

// TestDocumentWaitsForItsRecogniser checks that a document whose recogniser does not answer is
// neither cut nor given up.
func TestDocumentWaitsForItsRecogniser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.IngestWith(func(d *ingestion.Dependencies) {
		d.Recognisers = privacy.Recognisers{knowledge.RecogniserAnalyzer: nameless{}}
	})
	in := f.Upload("letter.txt", "Ann lives in Rome.", func(nv *store.NewVersion) {
		nv.Enrichment.Privacy = knowledge.VersionPrivacy{Mode: knowledge.PrivacyDetect, Recognisers: "PERSON=analyzer"}
	})
	prepared, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	f.Must(err)
	if prepared.Chunked {
		t.Error("a local activity asks the recogniser")
	}
	_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	f.FailedWith(err, knowledge.CodeUnavailable, true)
	if !step.IsHeld(err) {
		t.Errorf("the document gives up after some tries: %v", err)
	}
}
