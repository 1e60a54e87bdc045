package ingestion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// protect does with the personal data of a layout what the project of its version asks, and
// stores the report of it. With placeholders, it stores the layout that readers see and
// deletes the one with the values.
func (a *cutting) protect(ctx context.Context, v store.Version, layout knowledge.Layout) (knowledge.Layout, error) {
	redacted, report, dropped, err := a.examine(ctx, v, layout)
	if err != nil {
		return layout, err
	}
	if _, err := a.Blobs.PutJSON(ctx, parsed.PrivacyKey(v.VersionRef), report); err != nil {
		return layout, fmt.Errorf("store the report of personal data: %w", err)
	}
	if !v.Enrichment.Privacy.Redacts() {
		return layout, nil
	}
	if _, err := a.Blobs.PutJSON(ctx, parsed.SeenKey(v.VersionRef), redacted); err != nil {
		return layout, fmt.Errorf("store the layout without personal data: %w", err)
	}
	gone := []string{parsed.LayoutKey(v.VersionRef)}
	for _, name := range dropped {
		gone = append(gone, blob.AssetKey(v.VersionRef, name))
	}
	for _, key := range gone {
		if err := a.Blobs.Delete(ctx, key); err != nil {
			return layout, fmt.Errorf("delete what shows personal data: %w", err)
		}
	}
	return redacted, nil
}

// examine returns the layout that readers see, the personal data of a version, and the
// names of the figures that show some. Its error is knowledge.CodePIIFound where the
// project refuses such documents, or that of a recogniser that cannot answer.
func (a *cutting) examine(ctx context.Context, v store.Version, layout knowledge.Layout) (redacted knowledge.Layout, report privacy.Report, dropped []string, err error) {
	p := v.Enrichment.Privacy
	finder, err := a.Recognisers.Finder(ctx, p.Rules(), func(f *privacy.Finder) {
		f.NewRedactor().Layout(layout)
		f.Find(v.Name)
	})
	if err != nil {
		return layout, report, nil, err
	}
	if p.Redacts() {
		redacted, report, dropped = finder.NewRedactor().Layout(layout)
		for i := range redacted.Blocks {
			if p.DropOriginal { // the pictures go with the original
				redacted.Blocks[i].Figure = ""
			}
		}
		return redacted, report, dropped, nil
	}
	report = finder.Layout(layout)
	if p.Mode == knowledge.PrivacyReject {
		err = refusePII(report, finder.Find(v.Name))
	}
	return layout, report, nil, err
}

// refusePII returns the error of a document with personal data. It names the kinds of data
// and no value.
func refusePII(report privacy.Report, inName []privacy.Finding) error {
	var kinds []string
	for _, f := range report.Findings {
		kinds = append(kinds, f.Entity)
	}
	for _, f := range inName {
		kinds = append(kinds, f.Entity)
	}
	if kinds == nil && len(report.Pages) == 0 {
		return nil
	}
	slices.Sort(kinds)
	return knowledge.Errorf(knowledge.CodePIIFound,
		"the document has personal data (%s), which its project refuses: remove the data from the file, or set privacy.pii of the project to redact",
		strings.Join(slices.Compact(kinds), ", "))
}

// textsFor returns texts as the model of a generation gets them: with the kinds of personal
// data in their place, if the project of the version keeps it from models.
func textsFor(ctx context.Context, r privacy.Recognisers, g Embedder, p knowledge.VersionPrivacy, texts []string) ([]string, error) {
	if !p.Providers || g.Endpoint().InProcess {
		return texts, nil
	}
	return r.Mask(ctx, p.Rules(), texts)
}

// hideOriginal encrypts under the key of its original what shows the personal data of a version
// that redacts it: the original with all that was made of it, the texts that a model read from
// its pages, and its pictures. It deletes them if the project does not keep originals.
func (a *Publishing) hideOriginal(ctx context.Context, v store.Version) error {
	if !v.Enrichment.Privacy.Redacts() || v.SourceKey == "" {
		return nil
	}
	made := []string{blob.StepKey(v.VersionRef, figureTextFolder), blob.StepKey(v.VersionRef, pageTextFolder), blob.StepKey(v.VersionRef, "assets/"), blob.StepKey(v.VersionRef, stepFolder)}
	if !v.Enrichment.Privacy.DropOriginal {
		if err := a.Originals.SealOriginal(ctx, v.SourceKey, made...); err != nil {
			return fmt.Errorf("encrypt the original of a document without personal data: %w", err)
		}
		return nil
	}
	for _, prefix := range append(made, blob.UploadFolder(v.SourceKey)) {
		if _, err := a.Blobs.DeletePrefix(ctx, prefix, nil); err != nil {
			return fmt.Errorf("delete the original of a document without personal data: %w", err)
		}
	}
	return nil
}
