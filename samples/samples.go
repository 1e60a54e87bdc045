// Package samples contains documents for trying Cairn, written for this project
// about a fictional company: a service manual (PDF), a handbook (Markdown), the
// terms of warranty (HTML) and a calibration record (CSV). They refer to each
// other, so that a question can need two of them.
package samples

import (
	"embed"
	"io/fs"
)

//go:generate go run ./generate documents/hx4-service-manual.pdf

//go:embed documents
var documents embed.FS

// Documents returns the sample files.
func Documents() (fs.FS, error) { return fs.Sub(documents, "documents") }
