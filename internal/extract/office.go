package extract

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/extract/epub"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/odf"
	"github.com/cairn-rag/cairn/internal/extract/ole"
	"github.com/cairn-rag/cairn/internal/extract/ooxml"
	"github.com/cairn-rag/cairn/internal/extract/sheet"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The functions in this file connect the table of formats with the readers of office
// documents.

// ownReader is Layout.Reader of documents that only Cairn's readers read.
const ownReader = "own"

// readOOXML reads DOCX, PPTX and XLSX. The content decides which of them a file is.
func readOOXML(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	s, remove, err := decrypted(s)
	if err != nil {
		return format.Result{}, err
	}
	defer remove()
	kind, err := ooxml.Kind(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	var r format.Result
	switch kind {
	case "word":
		r, err = ooxml.Read(s)
		r.Layout.MediaType = TypeDOCX
	case "ppt":
		r, err = ooxml.Read(s)
		r.Layout.MediaType = TypePPTX
	case "xl":
		r, err = sheet.Read(s)
		r.Layout.MediaType = TypeXLSX
	default:
		err = knowledge.Errorf(knowledge.CodeUnsupportedFormat, "workbooks in the binary form (.xlsb) are not supported; save it as .xlsx and send that")
	}
	r.Layout.Reader = ownReader
	return r, err
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
	data, err := s.Bytes()
	if err != nil {
		return s, nothing, err
	}
	if data, err = ole.Decrypt(data, s.Options.Password); err != nil {
		return s, nothing, err
	}
	out, err := os.CreateTemp(s.Folder, "decrypted-*")
	if err != nil {
		return s, nothing, fmt.Errorf("store the decrypted document: %w", err)
	}
	remove = func() { _ = os.Remove(out.Name()) } // the folder goes with the result anyway
	_, err = out.Write(data)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		remove()
		return s, nothing, fmt.Errorf("store the decrypted document: %w", err)
	}
	s.Path, s.Size = out.Name(), int64(len(data))
	return s, remove, nil
}

func readODF(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	r, err := odf.Read(s)
	r.Layout.Reader = ownReader
	return r, err
}

func readEPUB(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return epub.Read(s)
}
