package openai

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// filePart is a file or a picture in a message.
type filePart struct {
	Type     string         `json:"type"` // input_file, input_image, or image_url in a chat
	FileID   string         `json:"file_id"`
	FileURL  string         `json:"file_url"`
	FileData string         `json:"file_data"`
	Filename string         `json:"filename"`
	ImageURL pictureAddress `json:"image_url"` // also a data: address
}

// takeFiles removes the files from the last message of the user and returns them.
func (in input) takeFiles() ([]filePart, error) {
	for i := len(in) - 1; i >= 0; i-- {
		if in[i].Role == "user" {
			files := in[i].Content.files
			if len(files) > 0 && strings.TrimSpace(in[i].Content.text) == "" {
				return nil, knowledge.Invalid("body.input", "has a file and no text; add a part of the type input_text with a question about the file")
			}
			in[i].Content.files = nil
			return files, nil
		}
	}
	return nil, nil
}

// attachments returns files, which stand at location, as attachments of a question. release closes what they read,
// also after an error.
func (s *Server) attachments(ctx context.Context, p knowledge.Principal, location string, files []filePart) (list []question.Attachment, release func(), err error) {
	var contents []io.Closer
	release = func() {
		for _, c := range contents {
			_ = c.Close() // it was only read
		}
	}
	for _, f := range files {
		a, err := f.attachment(location)
		if err != nil {
			return nil, release, err
		}
		if f.FileID != "" {
			content, err := s.attachUpload(ctx, p, f.FileID, &a)
			if err != nil {
				return nil, release, err
			}
			if content != nil {
				contents = append(contents, content)
			}
		}
		list = append(list, a)
	}
	return list, release, nil
}

// attachment returns the part, which stands at location, as an attachment, without the file of an
// id.
func (f filePart) attachment(location string) (a question.Attachment, err error) {
	sources, address, data := 0, f.FileURL, f.FileData
	if f.ImageURL != "" {
		address, data = string(f.ImageURL), ""
	}
	for _, one := range []string{f.FileID, address, data} {
		if one != "" {
			sources++
		}
	}
	if sources != 1 {
		return a, knowledge.Invalid(location, "has an %s without a file, or with several: it must have one of file_id, file_url, file_data and image_url", f.Type)
	}
	a.Name = f.Filename
	if strings.HasPrefix(address, "data:") {
		address, data = "", address
	}
	if address != "" {
		a.URL = &address
		return a, nil
	}
	if rest, ok := strings.CutPrefix(data, "data:"); ok {
		kind, base64, found := strings.Cut(rest, ";base64,")
		if !found {
			return a, knowledge.Invalid(location, "has a data: address that is not base64")
		}
		a.MediaType, data = kind, base64
	}
	if data != "" {
		a.Base64 = &data
	}
	return a, nil
}

// attachUpload makes an attachment of an uploaded file, whose content the caller closes,
// or of a document.
func (s *Server) attachUpload(ctx context.Context, p knowledge.Principal, id string, a *question.Attachment) (io.Closer, error) {
	f, err := s.waitingFile(ctx, p, id)
	if knowledge.IsCode(err, knowledge.CodeNotFound) && strings.HasPrefix(id, filePrefix) {
		a.ID = documentID(id)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, _, err := s.deps.Blobs.Open(ctx, bytesKey(p.Workspace(), f.ID))
	if err != nil {
		return nil, fmt.Errorf("open file %s: %w", f.ID, err)
	}
	a.Name, a.File = f.Name, content
	return content, nil
}
