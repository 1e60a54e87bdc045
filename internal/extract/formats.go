package extract

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/audio"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/libreoffice"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Format is one kind of file: a row of the table of formats.
type Format struct {
	MediaType  string
	Label      string   // in a list of formats, "DOCX"
	Name       string   // in a sentence, "a Word document (.docx)"
	Extensions []string // in lower case, without the dot
	IsText     bool     // the original is text, which the limit of texts bounds and the process reads at once
	IsSafe     bool     // a browser shows the original without running anything in it
	// IsSpeech means that the words are spoken: a transcript beside the file is read, or
	// a model transcribes it. Its reader only cuts a long recording into parts.
	IsSpeech bool
	MaxBytes int64 // largest file that its reader takes, 0 = only the limit of all files
	// read reads a file in the parser child. nil means that the format is recognised
	// but not supported.
	read func(ctx context.Context, p *parser, s format.Source) (format.Result, error)
	// draw returns a page of a file as PNG. nil means that the format has no pages to
	// draw.
	draw func(ctx context.Context, p *parser, s format.Source, d Drawing) ([]byte, error)
}

// IsRead reports whether documents of the format are extracted.
func (f Format) IsRead() bool { return f.read != nil }

// IsDrawn reports whether the pages of documents of the format can be drawn.
func (f Format) IsDrawn() bool { return f.draw != nil }

// HasPages reports whether documents of the format can have pages that are drawn: their
// own, or the pages of the PDF (PagesAsset) that LibreOffice makes of them.
func (f Format) HasPages() bool { return f.IsDrawn() || conversions[f.MediaType].pdf != "" }

// NoPages returns the error of a document of a format without pages, which a model is to
// read.
func NoPages(f Format) error {
	return knowledge.Invalid("body.parser", "is for documents with pages: PDF, pictures, texts and slides of office programs; %s has none, leave parser out", f.Name)
}

// HasSlides reports whether the pages of a media type are slides.
func HasSlides(mediaType string) bool {
	return conversions[mediaType].pdf == libreoffice.FilterSlidesPDF
}

// Formats returns the rows of the table of formats. Callers must not change it.
func Formats() []Format { return formats }

// FormatOf returns the format of a media type, whose parameters do not matter. ok is
// false if no row of the table has it.
func FormatOf(mediaType string) (f Format, ok bool) {
	kind, _, _ := strings.Cut(mediaType, ";")
	if strings.HasPrefix(kind, sourceCode) {
		kind = sourceCode
	}
	i := slices.IndexFunc(formats, func(f Format) bool { return f.MediaType == kind })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// IsText reports whether the original of a media type is text.
func IsText(mediaType string) bool {
	f, ok := FormatOf(mediaType)
	return ok && f.IsText
}

// supported is the end of the message about a kind that is not read.
func supported() string {
	var labels []string
	for _, f := range formats {
		if f.IsRead() && f.Label != "" {
			labels = append(labels, f.Label)
		}
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	return "supported are " + strings.Join(labels, ", ") + " and source code"
}

// IsSpeech reports whether a media type is a kind of recording, which is transcribed.
func IsSpeech(mediaType string) bool {
	f, ok := FormatOf(mediaType)
	return ok && f.IsSpeech
}

// IsTranscript reports whether a media type is a kind of subtitles.
func IsTranscript(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, ";")
	return kind == TypeWebVTT || kind == TypeSubRip
}

// PartSeconds is the length in seconds of the parts into which a recording is cut: the
// assets of its result, in their order.
const PartSeconds = audio.PartSeconds

// extensionIn returns the media type of the format with an extension, among the
// given media types. It returns otherwise if none has it.
func extensionIn(ext, otherwise string, mediaTypes ...string) string {
	for _, kind := range mediaTypes {
		if f, ok := FormatOf(kind); ok && slices.Contains(f.Extensions, ext) {
			return kind
		}
	}
	return otherwise
}
