// Package samples holds documents that the project wrote itself, about a company
// that does not exist, for whoever wants to try Cairn: a service manual (PDF), a
// handbook (Markdown), the terms of warranty (HTML) and a calibration record
// (CSV). They refer to one another, so that a question can need two of them.
package samples

import (
	"embed"
	"io/fs"
)

//go:generate go run ./generate documents/hx4-service-manual.pdf

//go:embed documents
var documents embed.FS

// Documents are the sample files, by name.
func Documents() (fs.FS, error) { return fs.Sub(documents, "documents") }
