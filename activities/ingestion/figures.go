package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// figureSide is the largest side in pixels of a figure that a model is shown.
	figureSide = 1024
	// maxFigureBytes is the size above which a figure is not shown to a model.
	maxFigureBytes = 20 << 20
)

// figureTextFolder is the folder in a version's prefix of what was seen in figures.
const figureTextFolder = "figure-texts/"

func figureTextKey(ref knowledge.VersionRef, name string) string {
	return blob.StepKey(ref, figureTextFolder+url.PathEscape(name)+".json")
}

// task returns what a model is asked about pictures of a kind, how its answer is read,
// and the folder of what was seen.
func (k PictureKind) task() (prompt string, read func(string) string, folder string) {
	if k == PagePictures {
		return enrich.PagePrompt, enrich.ReadPage, pageTextFolder
	}
	return enrich.PicturePrompt, enrich.ReadPicture, figureTextFolder
}

// figureNames returns the names of the figures of a layout, in their order, each once.
func figureNames(layout knowledge.Layout) []string {
	var names []string
	found := map[string]bool{}
	for _, b := range layout.Blocks {
		if b.Kind == knowledge.BlockFigure && b.Figure != "" && !found[b.Figure] {
			found[b.Figure] = true
			names = append(names, b.Figure)
		}
	}
	return names
}

// figurePictures returns the figures of a version.
func (a *ReadingPictures) figurePictures(v store.Version, layout knowledge.Layout) []picture {
	var pictures []picture
	for _, name := range figureNames(layout) {
		pictures = append(pictures, picture{
			key:  figureTextKey(v.VersionRef, name),
			draw: func(ctx context.Context) ([]byte, error) { return a.shown(ctx, v.VersionRef, name) },
		})
	}
	return pictures
}

// shown returns a figure as models are shown it. It is stored, so that those who answer
// questions need no parser.
func (a *ReadingPictures) shown(ctx context.Context, ref knowledge.VersionRef, name string) ([]byte, error) {
	key := step.ShownKey(ref, name)
	data, err := a.Blobs.Get(ctx, key)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return data, err
	}
	path, remove, err := a.files.localCopy(ctx, blob.AssetKey(ref, name))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "picture %s is not stored", name)
	}
	if err != nil {
		return nil, err
	}
	defer remove()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFigureBytes {
		return nil, knowledge.Errorf(knowledge.CodeTooLarge, "picture %s is too large to be shown", name)
	}
	if data, err = a.draw(ctx, extract.Input{Name: name, Path: path}, extract.Drawing{Page: 1, Side: figureSide}); err != nil {
		return nil, err
	}
	if _, err := a.Blobs.Put(ctx, key, data); err != nil {
		return nil, fmt.Errorf("store picture %s: %w", name, err)
	}
	return data, nil
}

// draw draws a page of a file in a folder of its own.
func (a *ReadingPictures) draw(ctx context.Context, in extract.Input, d extract.Drawing) ([]byte, error) {
	folder, err := os.MkdirTemp(a.TempDir, "cairn-page-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a page: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover in the temporary folder harms nobody
	in.Folder = folder
	name, err := a.Drawer.Draw(ctx, in, d)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(folder, filepath.Base(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// describeFigures makes the stored descriptions the texts of the figures of a layout.
func (a *cutting) describeFigures(ctx context.Context, v store.Version, layout knowledge.Layout) (knowledge.Layout, error) {
	texts := map[string]string{}
	names := figureNames(layout)
	for _, name := range names {
		var s seen
		err := a.Blobs.GetJSON(ctx, figureTextKey(v.VersionRef, name), &s)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return layout, fmt.Errorf("read the description of picture %s: %w", name, err)
		}
		if s.Text != "" {
			texts[name] = s.Text
		}
	}
	if layout.Metadata = maps.Clone(layout.Metadata); layout.Metadata == nil {
		layout.Metadata = map[string]string{}
	}
	setCount(layout.Metadata, "pictures_described", len(texts))
	setCount(layout.Metadata, notDescribed, len(names)-len(texts))
	shownOn := map[int]string{} // pages that are one picture
	for i := range layout.Blocks {
		b := &layout.Blocks[i]
		if b.Kind != knowledge.BlockFigure || b.Figure == "" {
			continue
		}
		if layout.Modality == knowledge.ModalityImage && len(b.Lines) > 0 {
			shownOn[b.Lines[0].Page] = b.Figure
		}
		if text := texts[b.Figure]; text != "" {
			describe(b, text, placeOf(layout, i))
		}
	}
	for i := range layout.Blocks { // the model is shown the picture for the words in it too
		if b := &layout.Blocks[i]; b.Figure == "" && len(b.Lines) > 0 {
			b.Figure = shownOn[b.Lines[0].Page]
		}
	}
	return layout, nil
}

// notDescribed is the metadata that counts the figures without a description.
const notDescribed = "pictures_not_described"

// setCount sets a count in the metadata of a layout, unless it is 0.
func setCount(metadata map[string]string, name string, n int) {
	if n > 0 {
		metadata[name] = strconv.Itoa(n)
	}
}

// describe sets the text of a figure: its alternative text and its description. place is
// used if the figure has no place of its own.
func describe(b *knowledge.Block, description string, place *knowledge.Line) {
	if len(b.Lines) > 0 {
		place = &knowledge.Line{Page: b.Lines[0].Page, Box: b.Lines[0].Box}
		for _, l := range b.Lines {
			if l.Page == place.Page {
				place.Box = place.Box.Union(l.Box)
			}
		}
	}
	if b.Text != "" {
		description = b.Text + "\n" + description
	}
	b.Text, b.Described, b.Lines = description, true, nil
	if place != nil {
		place.Start, place.End = 0, utf8.RuneCountInString(description)
		b.Lines = []knowledge.Line{*place}
	}
}

// placeOf returns the page that a block without a place stands on, as a whole: the page of
// the blocks around it, if they are on the same one. It returns nil if that is unknown.
func placeOf(layout knowledge.Layout, at int) *knowledge.Line {
	before, after := 0, 0
	for i := at - 1; i >= 0 && before == 0; i-- {
		if lines := layout.Blocks[i].Lines; len(lines) > 0 {
			before = lines[len(lines)-1].Page
		}
	}
	for i := at + 1; i < len(layout.Blocks) && after == 0; i++ {
		if lines := layout.Blocks[i].Lines; len(lines) > 0 {
			after = lines[0].Page
		}
	}
	for _, p := range layout.Pages {
		// A slide begins with its heading, so what is behind it is on the slide.
		if p.Page == before && (after == before || after == 0 || extract.HasSlides(layout.MediaType)) {
			return &knowledge.Line{Page: p.Page, Box: knowledge.Box{X2: p.Width, Y2: p.Height}}
		}
	}
	return nil
}
