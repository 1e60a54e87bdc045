package ingestion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// pageSide is the largest side in pixels of a page that a model reads: 180 pixels an
// inch of a usual page.
const pageSide = 2048

// pageTextFolder is the folder of the Markdown of pages in a version's prefix.
const pageTextFolder = "page-texts/"

func pageTextKey(ref knowledge.VersionRef, page int) string {
	return blob.StepKey(ref, fmt.Sprintf("%s%05d.json", pageTextFolder, page))
}

// asked returns which pictures a model must look at before a version is cut, and how
// many pages it has.
func (a *Extracting) asked(ctx context.Context, v store.Version) (p Pictures, pages int, err error) {
	byModel := v.Override.Parser == knowledge.ParserModel
	if !byModel && !v.Enrichment.Pictures || !isLarge(v) {
		return p, 0, nil
	}
	if done, err := a.Blobs.Exists(ctx, blob.StepKey(v.VersionRef, cutBlob)); done || err != nil {
		return p, 0, err
	}
	layout, err := a.reading.layout(ctx, v)
	if err == nil && byModel {
		err = a.checkPages(ctx, v, layout)
	}
	if err != nil {
		return p, 0, err
	}
	return Pictures{Pages: byModel, Figures: v.Enrichment.Pictures && len(figureNames(layout)) > 0}, len(layout.Pages), nil
}

// checkPages returns the error of a version whose pages cannot be drawn, or for which
// the project has no room.
func (a *Extracting) checkPages(ctx context.Context, v store.Version, layout knowledge.Layout) error {
	if len(layout.Pages) == 0 {
		return knowledge.Errorf(knowledge.CodeNeedsComponent,
			"the document has no pages that a model could read: LibreOffice, which makes them, is not installed or failed; apt-get install %s, restart and retry the document, or send it without parser", extract.OfficePackages)
	}
	return a.Versions.TakeRoom(ctx, v.VersionRef, len(layout.Pages), 0)
}

// pagePictures returns the pages of a version. The caller calls remove when they are
// drawn.
func (a *ReadingPictures) pagePictures(ctx context.Context, v store.Version, layout knowledge.Layout) (pictures []picture, remove func(), err error) {
	options, err := a.files.options(v)
	if err != nil {
		return nil, nil, err
	}
	in, key := extract.Input{Name: v.Name, MediaType: v.MediaType, Options: options}, v.SourceKey
	if f, _ := extract.FormatOf(v.MediaType); !f.IsDrawn() {
		in, key = extract.Input{Name: extract.PagesAsset, MediaType: extract.TypePDF}, blob.AssetKey(v.VersionRef, extract.PagesAsset)
	}
	if in.Path, remove, err = a.files.localCopy(ctx, key); err != nil {
		return nil, nil, err
	}
	for _, page := range layout.Pages {
		pictures = append(pictures, picture{
			key: pageTextKey(v.VersionRef, page.Page),
			draw: func(ctx context.Context) ([]byte, error) {
				return a.draw(ctx, in, extract.Drawing{Page: page.Page, Side: pageSide})
			},
		})
	}
	return pictures, remove, nil
}

// transcribePages replaces the text of a layout with the stored Markdown of its pages.
func (a *cutting) transcribePages(ctx context.Context, v store.Version, layout knowledge.Layout) (knowledge.Layout, error) {
	pages, title := map[int][]knowledge.Block{}, ""
	for _, page := range layout.Pages {
		var s seen
		err := a.Blobs.GetJSON(ctx, pageTextKey(v.VersionRef, page.Page), &s)
		if errors.Is(err, blob.ErrNotFound) || err == nil && s.Refused {
			continue
		}
		if err != nil {
			return layout, fmt.Errorf("read the text of page %d: %w", page.Page, err)
		}
		read, err := a.readMarkdown(ctx, s.Text)
		if err != nil {
			return layout, fmt.Errorf("read the text of page %d: %w", page.Page, err)
		}
		if pages[page.Page] = read.Blocks; title == "" {
			title = read.Title
		}
	}
	if len(pages) == 0 {
		return layout, a.chats.cannotSee(v)
	}
	unread := len(layout.Pages) - len(pages)
	layout = extract.Transcribed(layout, pages)
	if layout.Title == "" {
		layout.Title = title
	}
	if layout.Metadata = maps.Clone(layout.Metadata); layout.Metadata == nil {
		layout.Metadata = map[string]string{}
	}
	layout.Metadata["read_by"] = a.chats.chatModel(v)
	setCount(layout.Metadata, "pages_transcribed", len(pages))
	setCount(layout.Metadata, "pages_not_transcribed", unread)
	return layout, nil
}

// readMarkdown parses the Markdown that a model wrote, in a parser child: it repeats
// what is in a document.
func (a *cutting) readMarkdown(ctx context.Context, text string) (knowledge.Layout, error) {
	if text == "" {
		return knowledge.Layout{}, nil
	}
	f, err := os.CreateTemp(a.TempDir, "cairn-page-*")
	if err != nil {
		return knowledge.Layout{}, fmt.Errorf("make a file for a page: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // a leftover in the temporary folder harms nobody
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return knowledge.Layout{}, fmt.Errorf("write a page: %w", err)
	}
	result, err := a.SmallTexts.Extract(ctx, extract.Input{Name: "page.md", MediaType: extract.TypeMarkdown, Path: f.Name()})
	if knowledge.IsCode(err, knowledge.CodeEmpty) {
		return knowledge.Layout{}, nil
	}
	return result.Layout, err
}
