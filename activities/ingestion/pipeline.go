package ingestion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// stepFolder is the folder in a version's prefix of what the steps of its project answered. It
// is there until the version is cut.
const stepFolder = "steps/"

// Projects reads projects.
type Projects interface {
	// ProjectForSystem returns a project.
	ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error)
}

// customSteps runs the steps of projects at the two places of ingestion.
type customSteps struct {
	step.Pipeline

	Projects Projects
}

// stepsOf returns the steps of the project of a version, none if it was added without any.
func (a *customSteps) stepsOf(ctx context.Context, v store.Version) (knowledge.Pipeline, error) {
	if v.Enrichment.Steps == "" {
		return nil, nil
	}
	project, err := a.Projects.ProjectForSystem(ctx, v.Workspace, v.Project)
	if err != nil {
		return nil, fmt.Errorf("read the pipeline of project %s: %w", v.Project, err)
	}
	return project.Config.Pipeline, nil
}

func (a *customSteps) input(v store.Version, steps knowledge.Pipeline, at string) step.PipelineInput {
	return step.PipelineInput{
		Workspace: v.Workspace, Project: v.Project, Steps: steps, At: at, Private: v.Enrichment.Privacy.Providers,
		Key: func(name string) string { return blob.StepKey(v.VersionRef, stepFolder+name+".json") },
	}
}

// documentOfSteps is the document of a version as steps see it, with the metadata of the file.
func documentOfSteps(v store.Version, found map[string]any) pipeline.Document {
	d := pipeline.Document{ID: v.Document, Version: v.Version, Name: v.Name, MimeType: v.MediaType, Tags: v.Tags, Metadata: map[string]any{}}
	maps.Copy(d.Metadata, found)
	maps.Copy(d.Metadata, v.Metadata)
	if d.Tags == nil {
		d.Tags = []string{}
	}
	return d
}

// afterExtraction runs the steps at the place extracted over a layout without the personal
// data that the project redacts. It adds what they say to done, and stores the layout that
// readers see, if the steps changed it.
func (a *cutting) afterExtraction(ctx context.Context, v store.Version, steps knowledge.Pipeline, layout knowledge.Layout, done *cut) (knowledge.Layout, error) {
	if len(steps.At(knowledge.PipelineExtracted)) == 0 {
		return layout, nil
	}
	var given pipeline.Attributes
	var pages []int
	changes := false
	d := documentOfSteps(v, layout.Found())
	ran, err := a.custom.Run(ctx, a.custom.input(v, steps, knowledge.PipelineExtracted), func() ([]byte, error) {
		return pipeline.Encode(pipeline.NewExtracted(d, layout))
	}, func(output []byte) (bool, error) {
		answer, err := pipeline.Decode[pipeline.ExtractedAnswer](output)
		if err != nil {
			return false, err
		}
		next, on, changed, err := answer.Apply(layout)
		if err != nil {
			return false, err
		}
		if changed { // before the next step is sent it
			if next, err = a.protectAgain(ctx, v, next); err != nil {
				return false, err
			}
		}
		layout, pages, changes = next, append(pages, on...), changes || changed
		given.Add(answer.Attributes)
		return changed || !answer.IsZero(), nil
	})
	err = a.redactFailures(ctx, v, ran, err)
	done.ran(ran)
	if err != nil {
		return layout, err
	}
	if len(pages) > 0 {
		layout.Warnings = slices.Clone(layout.Warnings)
		layout.Warn(knowledge.WarnChanged, slices.DeleteFunc(pages, func(page int) bool { return page == 0 }),
			"a step of the project changed the text: a citation of it shows the place of the block, which may have other words in the file")
	}
	if changes {
		if _, err := a.Blobs.PutJSON(ctx, parsed.SeenKey(v.VersionRef), layout); err != nil {
			return layout, fmt.Errorf("store the layout of the steps: %w", err)
		}
	}
	return layout, a.giveAttributes(ctx, v, given, done)
}

// protectAgain does with the personal data in the texts of a step what protect did with those of
// the file.
func (a *cutting) protectAgain(ctx context.Context, v store.Version, layout knowledge.Layout) (knowledge.Layout, error) {
	if v.Enrichment.Privacy.Mode == "" {
		return layout, nil
	}
	redacted, report, _, err := a.examine(ctx, v, layout)
	if err != nil {
		return layout, err
	}
	if v.Enrichment.Privacy.Redacts() { // the rest of the report is of what is no longer there
		var before privacy.Report
		if err := a.Blobs.GetJSON(ctx, parsed.PrivacyKey(v.VersionRef), &before); err != nil {
			return layout, fmt.Errorf("read the report of personal data: %w", err)
		}
		report.Findings = append(before.Findings, report.Findings...)
		report.Pages = slices.Compact(slices.Sorted(slices.Values(append(before.Pages, report.Pages...))))
	}
	if _, err := a.Blobs.PutJSON(ctx, parsed.PrivacyKey(v.VersionRef), report); err != nil {
		return layout, fmt.Errorf("store the report of personal data: %w", err)
	}
	return redacted, nil
}

// beforeEmbedding runs the steps at the place before_embedding, and returns the chunks that
// remain.
func (a *cutting) beforeEmbedding(ctx context.Context, v store.Version, steps knowledge.Pipeline, chunks []knowledge.Chunk, done *cut) ([]knowledge.Chunk, error) {
	if len(steps.At(knowledge.PipelineBeforeEmbedding)) == 0 {
		return chunks, nil
	}
	var given pipeline.Attributes
	d := documentOfSteps(v, done.Metadata)
	holds := func(text string) bool { return chunk.Holds(text, a.Embedder.Endpoint().MaxTokens) }
	ran, err := a.custom.Run(ctx, a.custom.input(v, steps, knowledge.PipelineBeforeEmbedding), func() ([]byte, error) {
		return pipeline.Encode(pipeline.NewBeforeEmbedding(d, chunks))
	}, func(output []byte) (bool, error) {
		answer, err := pipeline.Decode[pipeline.BeforeEmbeddingAnswer](output)
		if err != nil {
			return false, err
		}
		next, changed, err := answer.Apply(chunks, holds)
		if err != nil {
			return false, err
		}
		chunks = next
		given.Add(answer.Attributes)
		return changed || !answer.IsZero(), nil
	})
	err = a.redactFailures(ctx, v, ran, err)
	done.ran(ran)
	switch {
	case err != nil:
		return nil, err
	case len(chunks) == 0:
		return nil, knowledge.Errorf(knowledge.CodeEmpty, "the steps of the project left out the whole text of the document")
	}
	pipeline.Renumber(v.VersionRef, chunks)
	if err := a.redactEmbedded(ctx, v, chunks); err != nil {
		return nil, err
	}
	return chunks, a.giveAttributes(ctx, v, given, done)
}

// redactFailures redacts what steps said of their failures, if the project of the version redacts.
// It returns err with the words that readers may see.
func (a *cutting) redactFailures(ctx context.Context, v store.Version, ran []knowledge.StepRun, err error) error {
	if !v.Enrichment.Privacy.Redacts() {
		return err
	}
	return step.RedactFailures(ran, err, func(words string) (string, error) {
		return a.Recognisers.Redact(ctx, v.Enrichment.Privacy.Rules(), words)
	})
}

// redactEmbedded redacts the texts that steps embed, if the project of the version redacts.
func (a *cutting) redactEmbedded(ctx context.Context, v store.Version, chunks []knowledge.Chunk) (err error) {
	if !v.Enrichment.Privacy.Redacts() {
		return nil
	}
	for i := range chunks {
		if chunks[i].Embedded == "" {
			continue
		}
		if chunks[i].Embedded, err = a.Recognisers.Redact(ctx, v.Enrichment.Privacy.Rules(), chunks[i].Embedded); err != nil {
			return err
		}
	}
	return nil
}

// giveAttributes adds what steps set to the facts of a version, without personal data that the
// project redacts.
func (a *cutting) giveAttributes(ctx context.Context, v store.Version, given pipeline.Attributes, done *cut) error {
	if given.IsZero() {
		return nil
	}
	_, tags, metadata, err := a.Recognisers.RedactAttributes(ctx, v.Enrichment.Privacy, "", given.Tags, given.Metadata)
	if err != nil {
		return err
	}
	all := pipeline.Attributes{Metadata: done.Metadata, Tags: done.Tags}
	all.Add(pipeline.Attributes{Metadata: metadata, Tags: tags})
	done.Metadata, done.Tags = all.Metadata, all.Tags
	return nil
}

// ran keeps what became of steps, with a warning for each that was left out.
func (c *cut) ran(steps []knowledge.StepRun) {
	c.Steps = append(c.Steps, steps...)
	for _, s := range steps {
		if s.Status == knowledge.RunFailed {
			c.leftOut = append(c.leftOut, fmt.Sprintf("%q: %s", s.Name, s.Message))
		}
	}
}

// warnOfSteps adds the warning of the steps that were left out.
func (c *cut) warnOfSteps() {
	if len(c.leftOut) == 0 {
		return
	}
	warned := knowledge.Layout{Warnings: slices.Clone(c.Warnings)}
	warned.Warn(knowledge.WarnStepLeftOut, nil, "steps of the project failed and were left out: %s", strings.Join(c.leftOut, "; "))
	c.Warnings = warned.Warnings
}
