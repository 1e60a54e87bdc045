package extract

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/cairn-rag/cairn/internal/extract/format"
	picturefile "github.com/cairn-rag/cairn/internal/extract/image"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The resolutions in which pages are drawn, in pixels an inch.
const (
	MinResolution = 36
	MaxResolution = 300
)

// Drawing is a page of a file that is to be drawn.
type Drawing struct {
	Page       int `json:"page"`                 // 1 = first
	Resolution int `json:"resolution,omitempty"` // pixels an inch; 0 = as many as a picture has, and of a PDF as Side allows
	// Side is the largest width and height of the drawn page in pixels, and allows a
	// large one to be a JPEG. 0 sets no limit.
	Side int `json:"side,omitempty"`
	// Boxes are marked on the page, in points from its top left.
	Boxes []knowledge.Box `json:"boxes,omitempty"`
}

// pageFile is the base name of a drawn page.
const pageFile = "page"

// Draw draws a page of a file as a PNG, or as Drawing.Side says, of the name that it
// returns, in the folder of the input. It blocks until a child is free. Errors for which
// the document is at fault are the errors of Extract, and not_found if it has no such page.
func (p *Pool) Draw(ctx context.Context, in Input, d Drawing) (name string, err error) {
	if in.Folder == "" {
		return "", errors.New("extract: Input.Folder is empty")
	}
	_, err = p.run(ctx, request{Input: in, Drawing: &d})
	return pageFile, err
}

// draw draws a page of one file.
func (p *parser) draw(ctx context.Context, in Input, d Drawing) error {
	source, f, err := p.open(in)
	if err != nil {
		return err
	}
	if f.draw == nil {
		return knowledge.Errorf(knowledge.CodeNotFound, "there are no pictures of the pages of %s", f.Name)
	}
	data, err := f.draw(ctx, p, source, d)
	if err != nil {
		return err
	}
	file, err := source.Create(pageFile)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write the picture of a page: %w", err)
	}
	return nil
}

func drawPDF(ctx context.Context, p *parser, s format.Source, d Drawing) ([]byte, error) {
	if err := p.startPDF(ctx); err != nil {
		return nil, err
	}
	drawn, err := p.pdfs.Draw(ctx, s, d.Page, picture.Scale{Resolution: d.Resolution, Side: d.Side, Boxes: d.Boxes})
	if err != nil {
		return nil, err
	}
	return encode(drawn, d)
}

func drawImage(_ context.Context, _ *parser, s format.Source, d Drawing) ([]byte, error) {
	drawn, err := picturefile.Draw(s, d.Page, picture.Scale{Resolution: d.Resolution, Side: d.Side, Boxes: d.Boxes})
	if err != nil {
		return nil, err
	}
	return encode(drawn, d)
}

func encode(drawn image.Image, d Drawing) ([]byte, error) {
	if d.Side == 0 {
		return picture.PNG(drawn)
	}
	data, _, err := picture.Encode(drawn)
	return data, err
}
