package pdf

import (
	"context"
	"regexp"
	"sync"

	"golang.org/x/text/encoding/charmap"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Results of FPDF_GetLastError.
const (
	errorPassword = 4
	errorSecurity = 5
)

// openDocument opens a PDF in a new instance of pdfium. The bytes stay in
// pdfium's memory as long as the instance.
func openDocument(ctx context.Context, lib *library, source format.Source, data []byte) (*document, error) {
	pointer, ok, err := lib.load(data)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, noMemory()
	}
	d := &document{ctx: ctx, lib: lib, source: source, images: mayHaveImages(data)}
	d.silent = sync.OnceValues(func() (silentCodes, error) {
		data, err := source.Bytes()
		return readSilent(data), err
	})
	for _, password := range passwords(source.Options.Password) {
		if d.handle, err = lib.call("FPDF_LoadMemDocument", pointer, uint64(len(data)), lib.writeString(password)); err != nil {
			return nil, err
		}
		if d.handle != 0 {
			return d, d.countPages(data)
		}
	}
	reason, err := lib.number("FPDF_GetLastError")
	switch {
	case err != nil:
		return nil, err
	case reason == errorSecurity:
		return nil, knowledge.Errorf(knowledge.CodeEncrypted,
			"the PDF is protected in a way that is not supported; remove the protection and send the file again")
	case reason == errorPassword && source.Options.Password == "":
		return nil, knowledge.Errorf(knowledge.CodeEncrypted, "the PDF asks for a password; send it again with override.password")
	case reason == errorPassword:
		return nil, knowledge.Errorf(knowledge.CodeEncrypted,
			"the password in override.password does not open the PDF; send the file again with the right one")
	default:
		return nil, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	}
}

// passwords returns the spellings of a password to try: PDF 2.0 encodes it as
// UTF-8, and older versions by a table that agrees with Latin-1 for most letters.
func passwords(password string) []string {
	spellings := []string{password}
	if latin, err := charmap.ISO8859_1.NewEncoder().String(password); err == nil && latin != password {
		spellings = append(spellings, latin)
	}
	return spellings
}

func (d *document) countPages(data []byte) error {
	count, err := d.lib.number("FPDF_GetPageCount", d.handle)
	switch {
	case err != nil:
		return err
	case count > maxPages || count <= 0 && claimsPages(data):
		return knowledge.Errorf(knowledge.CodeParseLimit, "the PDF has more than %d pages, which is the limit; split it", maxPages)
	case count <= 0:
		return knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	}
	d.pages = count
	return nil
}

var pageCount = regexp.MustCompile(`/Count +(\d+)`)

// claimsPages reports whether the file claims more pages than maxPages. pdfium
// stops counting above a million and then reports none.
func claimsPages(data []byte) bool {
	for _, m := range pageCount.FindAllSubmatch(data, 100) {
		if len(m[1]) > 6 {
			return true
		}
	}
	return false
}
