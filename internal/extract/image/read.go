package image

import (
	"context"
	"fmt"
	"image"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/ocr"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxPages = 1000
	// maxTime bounds the text recognition of one file, and pageTime of one page.
	// The pages behind it are not read.
	maxTime  = 20 * time.Minute
	pageTime = 40 * time.Second

	// Text of the usual size is recognised best at some 200 to 300 pixels an inch.
	// Pictures of unknown or low resolution, such as screenshots, are doubled.
	lowResolution = 150
	maxDoubled    = 4 << 20  // pixels before
	maxRecognised = 25 << 20 // pixels

	// An asset has at most so many pixels, so that a model takes it.
	maxAsset = 4 << 20
	// maxCopied is the size in bytes up to which a file is its own asset.
	maxCopied = 5 << 20
)

// reader reads the pages of one file.
type reader struct {
	source    format.Source
	tesseract *ocr.Tesseract // nil if it is not installed
	result    format.Result
	document  layout.Document
	figures   []knowledge.Block
	read      int // pages whose text was recognised
	unread    int
}

// Read extracts a picture. Errors for which the file is at fault, or a program that is
// not installed, are *knowledge.Error: corrupt, empty, needs_component, parse_limit or
// unsupported_format.
func Read(ctx context.Context, s format.Source) (format.Result, error) {
	data, err := s.Bytes()
	if err != nil {
		return format.Result{}, err
	}
	f, err := open(s.MediaType, data)
	if err != nil {
		return format.Result{}, err
	}
	r := reader{source: s}
	if r.tesseract, err = ocr.New(ctx, s, "a picture"); err != nil && !s.Options.Describe {
		return format.Result{}, err
	}
	began := time.Now()
	for i := range f.pages {
		if i > 0 {
			s.MoreTime()
		}
		img, err := f.decode(i)
		if err != nil {
			return format.Result{}, err
		}
		p := page{number: i + 1, picture: img, perPoint: f.resolution(i) / 72}
		if err := r.recognise(ctx, p, time.Since(began) > maxTime); err != nil {
			return format.Result{}, err
		}
		if err := r.addAsset(p, f); err != nil {
			return format.Result{}, err
		}
	}
	return r.finish(f)
}

// page is one page of a file.
type page struct {
	number   int // 1 = first
	picture  image.Image
	perPoint float64 // pixels of a point
}

// size returns the size of the page, in hundredths of a point as boxes are stored.
func (p page) size() knowledge.PageSize {
	points := func(pixels int) float64 { return math.Ceil(float64(pixels)/p.perPoint*100) / 100 }
	bounds := p.picture.Bounds()
	return knowledge.PageSize{Page: p.number, Width: points(bounds.Dx()), Height: points(bounds.Dy())}
}

// recognise recognises the text of a page, unless the time for that is over.
func (r *reader) recognise(ctx context.Context, p page, late bool) error {
	r.document.Pages = append(r.document.Pages, p.size())
	if r.tesseract == nil || late {
		r.unread++
		return nil
	}
	bounds := p.picture.Bounds()
	scale, pixels := 1.0, float64(bounds.Dx()*bounds.Dy())
	switch {
	case p.perPoint*72 < lowResolution && pixels <= maxDoubled:
		scale = 2
	case pixels > maxRecognised:
		scale = shrink(pixels, maxRecognised)
	}
	limited, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	lines, err := r.tesseract.Read(limited, picture.Gray(p.picture, scale), p.perPoint*scale, p.size())
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("recognise page %d: %w", p.number, context.Cause(ctx))
	case err != nil:
		fmt.Fprintln(os.Stderr, err) // for the log; tesseract failed on this page, or took too long
		r.unread++
	default:
		r.read++
		r.document.Lines = append(r.document.Lines, lines...)
	}
	return nil
}

// addAsset writes the picture of a page as an asset, and adds its block.
func (r *reader) addAsset(p page, f *file) error {
	if r.source.Folder == "" {
		return nil
	}
	name := "picture"
	if f.pages > 1 {
		name = fmt.Sprintf("page-%03d", p.number)
	}
	data, mediaType := f.data, r.source.MediaType
	if !f.showable || len(data) > maxCopied {
		img, err := p.picture, error(nil)
		if pixels := float64(img.Bounds().Dx() * img.Bounds().Dy()); pixels > maxAsset {
			img = picture.Scaled(img, shrink(pixels, maxAsset))
		}
		if data, mediaType, err = picture.Encode(img); err != nil {
			return err
		}
	}
	asset, err := picture.Asset(r.source, name, mediaType, data)
	if err != nil {
		return err
	}
	size := p.size()
	box := knowledge.Box{X2: size.Width, Y2: size.Height}
	asset.Page, asset.Box = p.number, &box
	r.result.Assets = append(r.result.Assets, asset)
	r.figures = append(r.figures, knowledge.Block{
		Kind: knowledge.BlockFigure, Figure: asset.Name, Lines: []knowledge.Line{{Page: p.number, Box: box}},
	})
	return nil
}

// finish returns the result, or the error of a file without text.
func (r *reader) finish(f *file) (format.Result, error) {
	if len(r.document.Lines) == 0 && !r.source.Options.Describe {
		if r.unread > 0 {
			return format.Result{}, knowledge.Errorf(knowledge.CodeParseLimit, "the text of the picture could not be recognised in time; send a clearer or smaller one")
		}
		return format.Result{}, knowledge.Errorf(knowledge.CodeEmpty,
			"no text was recognised in the picture; send one with text, or let a vision model describe pictures (multimodal)")
	}
	l := &r.result.Layout
	l.Modality, l.Pages, l.Metadata = knowledge.ModalityImage, r.document.Pages, f.metadata
	l.Blocks = layout.Insert(r.document.Blocks(), r.figures)
	if r.read > 0 {
		l.Metadata["ocr_pages"], l.Metadata["ocr_languages"] = strconv.Itoa(r.read), r.tesseract.Languages()
	}
	r.tesseract.Warn(l)
	if r.unread > 0 {
		l.Metadata["pages_not_read"] = strconv.Itoa(r.unread)
	}
	return r.result, nil
}
