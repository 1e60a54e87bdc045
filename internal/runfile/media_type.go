package runfile

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// MediaType returns the media type of a file. The content decides; the name tells
// formats apart that begin alike.
func MediaType(name string, content []byte) string {
	sniffed, _, _ := strings.Cut(http.DetectContentType(content), ";")
	extension := strings.ToLower(path.Ext(name))
	named := map[string]map[string]string{
		"text/plain": {
			".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json", ".md": "text/markdown",
			".html": "text/html", ".svg": "image/svg+xml", ".xml": "text/xml",
		},
		"text/xml": {".svg": "image/svg+xml"},
		"application/zip": {
			".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
			".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
			".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		},
	}
	if mediaType, ok := named[sniffed][extension]; ok {
		return mediaType
	}
	return sniffed
}

// IsPlainImage reports whether a browser may show files of a media type: they are
// pictures that hold no code.
func IsPlainImage(mediaType string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mediaType)
}
