package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/extract/epub"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/odf"
	"github.com/cairn-rag/cairn/internal/extract/ole"
	"github.com/cairn-rag/cairn/internal/extract/ooxml"
	"github.com/cairn-rag/cairn/internal/extract/sheet"
	"github.com/cairn-rag/cairn/internal/extract/unioffice"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The functions in this file connect the table of formats with the readers of office
// documents.

// readOOXML reads DOCX, PPTX and XLSX. The content decides which of them a file is.
func readOOXML(ctx context.Context, p *parser, s format.Source) (format.Result, error) {
	isOld, err := isOldOffice(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	if isOld { // an older document with the name of a newer one
		return readByConversion(ctx, p, s)
	}
	s, remove, err := decrypted(s)
	if err != nil {
		return format.Result{}, err
	}
	defer remove()
	kind, err := ooxml.Kind(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	mediaType, ok := map[string]string{"word": TypeDOCX, "ppt": TypePPTX, "xl": TypeXLSX}[kind]
	if !ok { // a workbook in the binary form
		s.MediaType = TypeXLSX
		return readByConversion(ctx, p, s)
	}
	r, err := p.readKind(s, kind)
	if err != nil {
		return format.Result{}, err
	}
	r.Layout.MediaType = mediaType
	s.Options.Password = "" // it is open
	return r, p.addPages(ctx, s, mediaType, &r)
}

// readKind reads a document of a kind with the reader that is configured.
func (p *parser) readKind(s format.Source, kind string) (r format.Result, err error) {
	reader := readByOwn
	switch {
	case p.isUnioffice:
		reader = readByUnioffice
		r, err = unioffice.Read(s, kind)
	case kind == "xl":
		r, err = sheet.Read(s)
	default:
		r, err = ooxml.Read(s)
	}
	r.Layout.Reader = reader
	return r, err
}

// isOldOffice reports whether a file is in the container of the older formats, and
// not an encrypted document of the newer ones.
func isOldOffice(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open document: %w", err)
	}
	defer f.Close()
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil || !ole.IsContainer(head) {
		return false, nil // the reader reports what is wrong
	}
	return !ole.IsEncrypted(f), nil
}

// isMessage reports whether an older Office document is a message of Outlook with a wrong
// name: the first bytes do not show all of them.
func isMessage(s format.Source) bool {
	f, err := os.Open(s.Path)
	if err != nil {
		return false // the reader reports it
	}
	defer f.Close()
	return ole.IsMessage(f)
}

// decrypted returns the source with the content of an encrypted Office document, in a
// file that remove removes. It returns other sources as they are.
func decrypted(s format.Source) (plain format.Source, remove func(), err error) {
	nothing := func() {}
	f, err := os.Open(s.Path)
	if err != nil {
		return s, nothing, fmt.Errorf("open document: %w", err)
	}
	defer f.Close()
	head := make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil || !ole.IsContainer(head) {
		return s, nothing, nil // the reader reports what is wrong
	}
	return decryptedBy(s, func(w io.Writer) error {
		data, err := s.Bytes()
		if err == nil {
			data, err = ole.Decrypt(data, s.Options.Password)
		}
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
}

// decryptedBy returns the source with what decrypt writes as its content, in a file
// that remove removes.
func decryptedBy(s format.Source, decrypt func(io.Writer) error) (plain format.Source, remove func(), err error) {
	out, err := os.CreateTemp(s.Folder, "decrypted-*")
	if err != nil {
		return s, func() {}, fmt.Errorf("store the decrypted document: %w", err)
	}
	remove = func() { _ = os.Remove(out.Name()) } // the folder goes with the result anyway
	err = decrypt(out)
	info, statErr := out.Stat()
	if err = errors.Join(err, statErr, out.Close()); err != nil {
		remove()
		return s, func() {}, fmt.Errorf("decrypt document: %w", err)
	}
	s.Path, s.Size, s.Options.Password = out.Name(), info.Size(), ""
	return s, remove, nil
}

// decryptedODF returns the source with the content of an encrypted OpenDocument file, in
// a file that remove removes.
func decryptedODF(s format.Source) (plain format.Source, remove func(), err error) {
	return decryptedBy(s, func(w io.Writer) error { return odf.Decrypt(s.Path, s.Options.Password, w) })
}

// readDecrypted reads an encrypted OpenDocument file.
func readDecrypted(s format.Source) (format.Result, error) {
	plain, remove, err := decryptedODF(s)
	if err != nil {
		return format.Result{}, err
	}
	defer remove()
	return odf.Read(plain)
}

func readODF(ctx context.Context, p *parser, s format.Source) (format.Result, error) {
	r, err := odf.Read(s)
	if knowledge.IsCode(err, knowledge.CodeEncrypted) && s.Options.Password != "" {
		plain, remove, decryptErr := decryptedODF(s)
		if errors.Is(decryptErr, odf.ErrEncryption) {
			return readByConversion(ctx, p, s)
		}
		defer remove()
		if s, err = plain, decryptErr; err == nil {
			r, err = odf.Read(s)
		}
	}
	if err != nil {
		return format.Result{}, err
	}
	r.Layout.Reader = readByOwn
	return r, p.addPages(ctx, s, s.MediaType, &r)
}

func readEPUB(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return epub.Read(s)
}
