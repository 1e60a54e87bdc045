package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// attachedFiles returns the files that come with a question.
func attachedFiles(paths []string) ([]client.File, error) {
	var files []client.File
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, wrongUse("--attach %s cannot be read: it must be the path of a file", path)
		case !info.Mode().IsRegular():
			return nil, wrongUse("--attach %s is not a file", path)
		case len(files) == knowledge.MaxAttachments:
			return nil, wrongUse("a question has at most %d attached files: upload more with cairn ingest", knowledge.MaxAttachments)
		}
		files = append(files, client.File{Name: filepath.Base(path), Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	return files, nil
}

// attachment shows when a file that came with the question can be read, or why it cannot.
func (n *narrator) attachment(e client.Event) error {
	var attached client.Attachment
	if err := e.Decode(&attached); err != nil {
		return err
	}
	switch {
	case attached.Error != nil:
		n.say("%s cannot be read: %s", firstOf(attached.Name, attached.DocumentID), attached.Error.Message)
	case attached.Status == knowledge.StatusPending:
		n.say("%s: %s", firstOf(attached.Name, attached.DocumentID), "reading")
	default:
		n.say("%s: %s", firstOf(attached.Name, attached.DocumentID), "read")
	}
	return nil
}
