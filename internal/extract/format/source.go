package format

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Source is one file to read.
type Source struct {
	Name      string  // as uploaded
	MediaType string  // without parameters
	Kind      string  // the format in a sentence, "a Word document (.doc)"
	Charset   string  // declared character set of a text, "" = none
	Assumed   *string // where Text stores charset.Assumed, nil = nowhere
	Path      string
	Data      []byte // content of a text that is in no file; then Path is empty
	Size      int64  // bytes
	Folder    string // empty folder for the files of the result
	Options   Options
	Tools     Tools
	// MoreTime starts the time limit of the document again. A reader calls it before
	// each part that takes long whatever the file is, such as a page whose text must
	// be recognised, and bounds the number of those parts.
	MoreTime func()
	// Pages is told how many pages of all were read; nil = nobody is.
	Pages func(read, all int)
}

// Options change how a file is read. The zero Options are the defaults.
type Options struct {
	Password  string   `json:"password,omitempty"`  // opens an encrypted file; never logged
	Languages []string `json:"languages,omitempty"` // of the text in pictures, ISO 639-2 codes as tesseract takes them; empty = English
	// Describe means that a model looks at the figures or the pages of the result.
	// Without it a file of nothing but pictures without text is an error.
	Describe bool `json:"describe,omitempty"`
	// Exact adds the stored values of numbers that a spreadsheet shows rounded.
	Exact bool `json:"exact,omitempty"`
}

// Bytes returns the content of the file.
func (s Source) Bytes() ([]byte, error) {
	if s.Path == "" {
		return s.Data, nil
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, fmt.Errorf("open document: %w", err)
	}
	defer f.Close()
	data := make([]byte, s.Size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read document: %w", err)
	}
	return data, nil
}

// Text returns the content of a text file as clean UTF-8. It returns the errors
// of charset.Decode.
func (s Source) Text() (string, error) {
	data, err := s.Bytes()
	if err != nil {
		return "", err
	}
	if s.Assumed != nil {
		*s.Assumed = charset.Assumed(data, s.Charset)
	}
	return charset.Decode(data, s.Charset)
}

// Create creates a file of the result in the folder. The caller closes it. The name
// must not contain a path separator.
func (s Source) Create(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.Folder, filepath.Base(name)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create a file of the result: %w", err)
	}
	return f, nil
}

// Result is what a reader makes of a file.
type Result struct {
	Layout   knowledge.Layout `json:"layout"`
	Assets   []File           `json:"assets,omitempty"`   // pictures of pages and figures
	Children []File           `json:"children,omitempty"` // attachments, which become documents of their own
}

// File is a file in the folder of the source.
type File struct {
	Name      string         `json:"name"` // of an asset: as Block.Figure names it; of a child: as the file names it
	MediaType string         `json:"media_type,omitempty"`
	File      string         `json:"file"` // base name in the folder
	Page      int            `json:"page,omitempty"`
	Box       *knowledge.Box `json:"box,omitempty"` // of a figure on its page
}
