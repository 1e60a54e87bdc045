package extract

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

// Input is one file to extract.
type Input struct {
	Name      string `json:"name"`           // the file's name as uploaded; tells kinds of text apart
	MediaType string `json:"media_type"`     // as declared or as Sniff returned it, "" = unknown
	Path      string `json:"path,omitempty"` // of the file to read
	// Data is the content of a small text, in place of Path.
	Data []byte `json:"data,omitempty"`
	// Folder is an empty folder in which the child may write the files of the
	// result. A text needs none.
	Folder  string         `json:"folder,omitempty"`
	Options format.Options `json:"options,omitzero"`
	// Pages is told how many pages of all were read, if the file has pages and takes
	// longer than half a second. It must not block. Defaults to nobody being told.
	Pages func(read, all int) `json:"-"`
}

func (in Input) validate() error {
	if in.Path == "" && in.Data == nil {
		return errors.New("extract: Input.Path is empty")
	}
	return nil
}

// head returns the first HeadBytes of the file, and its size.
func (in Input) head() ([]byte, int64, error) {
	if in.Path == "" {
		return in.Data[:min(len(in.Data), HeadBytes)], int64(len(in.Data)), nil
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return nil, 0, fmt.Errorf("open document: %w", err)
	}
	defer file.Close()
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, fmt.Errorf("read document: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("stat document: %w", err)
	}
	return head[:n], info.Size(), nil
}
