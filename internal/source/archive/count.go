package archive

import (
	"archive/zip"
	"fmt"
	"strings"
)

// CountFiles returns how many files an archive on this machine has. An import of it discovers
// as many objects, and the files of archives inside it.
func CountFiles(path string) (int, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return 0, fmt.Errorf("open archive %s: %w", path, err)
	}
	defer func() { _ = z.Close() }() // it was only read
	count, decode := 0, decoderFor(z.File)
	for _, f := range z.File {
		if name := decode(f); !strings.HasSuffix(name, "/") && !addedBySystem(name) {
			count++
		}
	}
	return count, nil
}
