package ingestion_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// steps answers the steps of a project by their places, and keeps what they are sent.
type steps struct {
	answers map[string]string
	sent    map[string]string
}

// Run implements step.StepRunner.
func (s *steps) Run(_ context.Context, c pipeline.Call) ([]byte, error) {
	s.sent[c.Step.At] += string(c.Input)
	return []byte(s.answers[c.Step.At]), nil
}

// newStepped returns a fixture whose project has a step at each place of documents.
func newStepped(t *testing.T, answers map[string]string) (*fixture, *steps) {
	t.Helper()
	f := newFixture(t)
	s := &steps{answers, map[string]string{}}
	f.IngestWith(func(d *ingestion.Dependencies) { d.Steps = s })
	_, err := f.Store.UpdateProject(f.Ctx, activitytest.Manager(), "p", func(p *knowledge.Project) error {
		for _, at := range []string{knowledge.PipelineExtracted, knowledge.PipelineBeforeEmbedding} {
			p.Config.Pipeline = append(p.Config.Pipeline, knowledge.PipelineStep{At: at, Required: true, Code: &knowledge.PipelineCode{Language: knowledge.PipelinePython, Source: "pass"}})
		}
		return nil
	})
	f.Must(err)
	return f, s
}

// protectedBy is a change of an upload to a project with steps and a rule for personal data.
func protectedBy(mode knowledge.PrivacyMode) func(*store.NewVersion) {
	return func(nv *store.NewVersion) {
		nv.Enrichment.Steps, nv.Enrichment.Privacy.Mode = "1", mode
	}
}

// addsPeople are answers of steps that add mail addresses wherever a step may add text.
func addsPeople() map[string]string {
	return map[string]string{
		knowledge.PipelineExtracted:       `{"blocks":[{"index":0,"text":"The rent goes to bob@example.org, says cat@example.org."}],"tags":["of dan@example.org"],"metadata":{"clerk":"eve@example.org"}}`,
		knowledge.PipelineBeforeEmbedding: `{"chunks":[{"index":0,"embed":"rent of fay@example.org"}],"tags":["by gil@example.org"]}`,
	}
}

// TestStepsOfProjectsThatRedact checks that neither what steps are sent nor what they return brings
// personal data to readers, to the embedding model or into the store. Without a rule, it does.
func TestStepsOfProjectsThatRedact(t *testing.T) {
	t.Parallel()
	for _, mode := range []knowledge.PrivacyMode{knowledge.PrivacyRedact, ""} {
		t.Run("mode "+string(mode), func(t *testing.T) {
			t.Parallel()
			f, s := newStepped(t, addsPeople())
			in := f.Upload("rent.txt", "The rent goes to ann@example.org.", protectedBy(mode))
			f.Prepare(in)
			chunks := f.Chunks(in)
			layout, err := parsed.Stored(f.Ctx, f.Blobs, in.VersionRef, true)
			f.Must(err)
			f.Publish(in)
			d, err := f.Store.Document(f.Ctx, activitytest.Manager(), in.Document)
			f.Must(err)
			shown, err := json.Marshal([]any{chunks, layout.Blocks, d.Tags, d.Metadata})
			f.Must(err)
			all := s.sent[knowledge.PipelineExtracted] + s.sent[knowledge.PipelineBeforeEmbedding] + string(shown)
			redacts := mode == knowledge.PrivacyRedact
			for _, name := range []string{"ann", "bob", "cat", "dan", "eve", "fay", "gil"} {
				if strings.Contains(all, name+"@example.org") == redacts {
					t.Errorf("%s: %t in what was sent %v, and what is shown %s", name, !redacts, s.sent, shown)
				}
			}
			if len(chunks) != 1 || redacts && !strings.Contains(chunks[0].Embedded, "rent of <EMAIL_ADDRESS") {
				t.Errorf("the chunks are %+v", chunks)
			}
			if keys := f.Keys(blob.StepKey(in.VersionRef, "steps/")); len(keys) > 0 {
				t.Errorf("the answers of steps are kept: %v", keys)
			}
		})
	}
}

// TestStepsTellPeopleApart has a step that adds a second mail address to a text with one: each has
// a placeholder of its own.
func TestStepsTellPeopleApart(t *testing.T) {
	t.Parallel()
	f, _ := newStepped(t, map[string]string{
		knowledge.PipelineExtracted: `{"blocks":[{"index":0,"text":"The rent of <EMAIL_ADDRESS_1> goes to bob@example.org."}]}`, knowledge.PipelineBeforeEmbedding: `{}`,
	})
	in := f.Upload("rent.txt", "The rent goes to ann@example.org.", protectedBy(knowledge.PrivacyRedact))
	f.Prepare(in)
	if got := f.Chunks(in)[0].Text; got != "The rent of <EMAIL_ADDRESS_1> goes to <EMAIL_ADDRESS_2>." {
		t.Errorf("the passage is %q", got)
	}
}

// TestTheNextStepIsSentPlaceholders has a step add a mail address to the text: the one behind it
// is sent a placeholder.
func TestTheNextStepIsSentPlaceholders(t *testing.T) {
	t.Parallel()
	f, s := newStepped(t, addsPeople())
	_, err := f.Store.UpdateProject(f.Ctx, activitytest.Manager(), "p", func(p *knowledge.Project) error {
		next := p.Config.Pipeline[0]
		next.Code = &knowledge.PipelineCode{Language: knowledge.PipelinePython, Source: "pass # again"}
		p.Config.Pipeline = append(p.Config.Pipeline, next)
		return nil
	})
	f.Must(err)
	in := f.Upload("rent.txt", "The rent goes to ann@example.org.", protectedBy(knowledge.PrivacyRedact))
	f.Prepare(in)
	if sent := s.sent[knowledge.PipelineExtracted]; strings.Contains(sent, "@example.org") || strings.Count(sent, `"at":"extracted"`) != 2 {
		t.Errorf("the steps are sent %s", sent)
	}
	var report privacy.Report
	f.Must(f.Blobs.GetJSON(f.Ctx, parsed.PrivacyKey(in.VersionRef), &report))
	if len(report.Findings) < 3 {
		t.Errorf("the report has %+v", report.Findings)
	}
}

// TestStepsOfProjectsThatRefuse has a step that adds personal data to a document of a project that
// refuses it.
func TestStepsOfProjectsThatRefuse(t *testing.T) {
	t.Parallel()
	f, _ := newStepped(t, addsPeople())
	in := f.Upload("rent.txt", "The rent goes to the clerk.", protectedBy(knowledge.PrivacyReject))
	_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	if err == nil {
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	}
	f.FailedWith(err, knowledge.CodePIIFound, false)
}

// TestStepsThatRefusePeople has a step whose reason names somebody: neither the error of the
// document nor the timeline does.
func TestStepsThatRefusePeople(t *testing.T) {
	t.Parallel()
	f, _ := newStepped(t, map[string]string{knowledge.PipelineExtracted: `{"reject":{"reason":"ask bob@example.org first"}}`})
	in := f.Upload("rent.txt", "The rent goes to the clerk.", protectedBy(knowledge.PrivacyRedact))
	_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	if err == nil {
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	}
	f.FailedWith(err, knowledge.CodeStepRejected, false)
	if strings.Contains(err.Error(), "bob@example.org") || !strings.Contains(err.Error(), "<EMAIL_ADDRESS_1> first") {
		t.Errorf("the error is %v", err)
	}
}
