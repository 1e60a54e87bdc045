package pdf

import (
	"fmt"
	"math"
	"unicode"
	"unicode/utf16"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"golang.org/x/text/unicode/norm"
)

// lineHyphen is what pdfium puts in place of a hyphen at the end of a line.
const lineHyphen = 0x02

// glyph is one character of a page. A space and a line end have no box.
type glyph struct {
	char  rune
	index int           // on pdfium's page
	box   knowledge.Box // on the displayed page
}

func (g glyph) visible() bool { return g.box != knowledge.Box{} }

// page is what is read of one page.
type page struct {
	size  knowledge.PageSize
	lines []line
}

// page reads the page with the given index.
func (r *Reader) page(doc references.FPDF_DOCUMENT, index int) (p page, err error) {
	loaded, err := r.instance.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return page{}, fmt.Errorf("load page %d: %w", index+1, err)
	}
	ref := requests.Page{ByReference: &loaded.Page}
	defer func() {
		if _, closeErr := r.instance.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}); err == nil && closeErr != nil {
			err = fmt.Errorf("close page %d: %w", index+1, closeErr)
		}
	}()
	f, err := r.frame(ref)
	if err != nil {
		return page{}, fmt.Errorf("measure page %d: %w", index+1, err)
	}
	width, height := f.size()
	p.size = knowledge.PageSize{Page: index + 1, Width: width, Height: height}
	text, err := r.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: ref})
	if err != nil {
		if broken(err) {
			return page{}, err
		}
		return p, nil // a page without text
	}
	defer func() {
		if _, closeErr := r.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}); err == nil && closeErr != nil {
			err = fmt.Errorf("close text of page %d: %w", index+1, closeErr)
		}
	}()
	p.lines, err = r.lines(text.TextPage, f, index+1)
	return p, err
}

func (r *Reader) frame(ref requests.Page) (frame, error) {
	box, err := r.instance.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: ref})
	if err != nil {
		return frame{}, err
	}
	rotation, err := r.instance.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: ref})
	if err != nil {
		return frame{}, err
	}
	return frame{
		left: float64(box.Rect.Left), bottom: float64(box.Rect.Bottom),
		right: float64(box.Rect.Right), top: float64(box.Rect.Top),
		quarters: int(rotation.PageRotation) & 3,
	}, nil
}

// glyphs reads the characters of a page in pdfium's order.
func (r *Reader) glyphs(text references.FPDF_TEXTPAGE, f frame) ([]glyph, error) {
	count, err := r.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil {
		return nil, fmt.Errorf("count characters: %w", err)
	}
	glyphs := make([]glyph, 0, count.Count)
	var high rune // the first half of a surrogate pair
	for i := range count.Count {
		resp, err := r.instance.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return nil, fmt.Errorf("read character: %w", err)
		}
		char := rune(uint32(resp.Unicode))
		if utf16.IsSurrogate(char) {
			pair := utf16.DecodeRune(high, char)
			high = char
			if pair == unicode.ReplacementChar {
				continue
			}
			char = pair
		}
		g := glyph{char: char, index: i}
		if char == lineHyphen || unicode.IsGraphic(char) && !unicode.IsSpace(char) || unicode.Is(unicode.Co, char) {
			box, err := r.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: i})
			if err != nil {
				if broken(err) {
					return nil, err
				}
				continue
			}
			b := box.Rect
			g.box = f.box(float64(b.Left), float64(b.Bottom), float64(b.Right), float64(b.Top))
			if !g.visible() || !finite(g.box) {
				continue
			}
		}
		glyphs = append(glyphs, g)
	}
	return glyphs, nil
}

func finite(b knowledge.Box) bool {
	sum := b.X1 + b.Y1 + b.X2 + b.Y2
	return !math.IsNaN(sum) && math.Abs(sum) < 1e7
}

// direction gives the quarter turns clockwise in which a character is
// displayed.
func (r *Reader) direction(text references.FPDF_TEXTPAGE, index int, f frame) (int, error) {
	angle, err := r.instance.FPDFText_GetCharAngle(&requests.FPDFText_GetCharAngle{TextPage: text, Index: index})
	if err != nil {
		if broken(err) {
			return 0, err
		}
		return f.quarters, nil
	}
	turns := int(math.Round(float64(angle.CharAngle) / (math.Pi / 2))) // clockwise in user space
	return ((turns+f.quarters)%4 + 4) % 4, nil
}

// fontSize gives the size in which a character is displayed and whether its
// font is bold by name.
func (r *Reader) font(text references.FPDF_TEXTPAGE, index int) (size float64, bold bool) {
	s, err := r.instance.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: index})
	if err != nil {
		return 0, false
	}
	size = s.FontSize
	if m, err := r.instance.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: text, Index: index}); err == nil {
		size *= math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D))
	}
	info, err := r.instance.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: text, Index: index})
	return size, err == nil && boldFont(info.FontName, info.Flags)
}

// letters gives the text of a character: ligatures and presentation forms as
// the letters that they stand for, "" for what is no text.
func letters(char rune) string {
	switch {
	case char >= 0xfb00 && char <= 0xfdff, char >= 0xfe70 && char < 0xfeff:
		return norm.NFKC.String(string(char))
	case char == lineHyphen || char == 0xad:
		return "-"
	case char < 0x20, char >= 0x7f && char < 0xa0, char >= 0xfff0 && char != unicode.ReplacementChar && char <= 0xffff, !unicode.IsGraphic(char):
		return ""
	default:
		return string(char)
	}
}
