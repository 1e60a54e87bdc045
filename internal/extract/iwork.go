package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// readKeynote reads a presentation through LibreOffice. Where LibreOffice is missing or
// does not know the version, it reads the preview.
func readKeynote(ctx context.Context, p *parser, s format.Source) (format.Result, error) {
	r, err := readByConversion(ctx, p, s)
	if err == nil || !knowledge.IsCode(err, knowledge.CodeNeedsComponent) && !knowledge.IsCode(err, knowledge.CodeCorrupt) {
		return r, err
	}
	preview, previewErr := readPreview(ctx, p, s)
	if previewErr != nil {
		return format.Result{}, err
	}
	return preview, nil
}

// readPreview reads the PDF that an iWork program stores in a document, to show it where
// the program is missing.
func readPreview(ctx context.Context, p *parser, s format.Source) (r format.Result, err error) {
	c, err := container.Open(s.Path)
	if err != nil {
		return r, err
	}
	name := previewOf(c.Names())
	if name == "" {
		if isLocked(c.Names()) {
			return r, errors.Join(knowledge.Errorf(knowledge.CodeEncrypted, "the document asks for a password; export it as PDF without a password and send that"), c.Close())
		}
		return r, errors.Join(noPreview(s), c.Close())
	}
	plain, remove, err := unpackPreview(s, c, name)
	if err = errors.Join(err, c.Close()); err != nil {
		return r, err
	}
	defer remove()
	if r, err = readPDF(ctx, p, plain); err != nil {
		return r, err
	}
	r.Layout.MediaType = s.MediaType
	r.Layout.Warn(knowledge.WarnPreview, nil, "the text is from the preview that the program stored in the document, which may be older or shorter than the document; export it as PDF and send that to be sure")
	return r, nil
}

func unpackPreview(s format.Source, c *container.Container, name string) (plain format.Source, remove func(), err error) {
	return decryptedBy(s, func(w io.Writer) error {
		in, err := c.Open(name)
		if err != nil {
			return err
		}
		n, err := io.Copy(w, io.LimitReader(in, maxPDF+1))
		switch closeErr := in.Close(); {
		case n > maxPDF:
			return knowledge.Errorf(knowledge.CodeTooLarge, "the preview of the document has more than %d MB; split the document", maxPDF>>20)
		case err != nil || closeErr != nil:
			return container.Damaged(fmt.Errorf("unpack the preview: %w", errors.Join(err, closeErr)))
		}
		return nil
	})
}

// previewOf returns the entry of a document that is its preview as PDF, "" if it has none.
// The document can be a folder in the archive.
func previewOf(names []string) string {
	found := ""
	for _, name := range names {
		isPreview := strings.EqualFold(path.Base(name), "preview.pdf") && !strings.HasPrefix(name, "__MACOSX/")
		if isPreview && (found == "" || strings.Count(name, "/") < strings.Count(found, "/")) {
			found = name
		}
	}
	return found
}

// isLocked reports whether a document has a password, whose check is an entry of its own.
func isLocked(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return path.Base(name) == ".iwpv2" })
}

func noPreview(s format.Source) error {
	return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "%s can be read only by the program of Apple, and this one has no preview as PDF in it; export it as PDF and send that", s.Kind)
}
