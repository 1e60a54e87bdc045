package extract

import "bytes"

// IsArchive reports whether a file is an archive whose members are documents: a ZIP that
// is called one. Office documents are ZIP files too.
func IsArchive(name string, head []byte) bool {
	return extension(name) == "zip" && (bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")))
}
