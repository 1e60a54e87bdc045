package extract

import (
	"errors"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

// Input is one file to extract.
type Input struct {
	Name      string `json:"name"`       // the file's name as uploaded; tells kinds of text apart
	MediaType string `json:"media_type"` // as declared or as Sniff returned it, "" = unknown
	Path      string `json:"path"`       // of the file to read
	// Folder is an empty folder in which the child may write the files of the
	// result. A text needs none.
	Folder  string         `json:"folder,omitempty"`
	Options format.Options `json:"options,omitzero"`
}

func (in Input) validate() error {
	if in.Path == "" {
		return errors.New("extract: Input.Path is empty")
	}
	return nil
}
