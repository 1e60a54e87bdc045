package sharepoint

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// ref is what Open needs of an object.
type ref struct {
	Part part   `json:"part"`
	Item string `json:"item,omitempty"` // of a drive
	Site string `json:"site,omitempty"` // path of the site of a page or a list
}

func (r ref) text() string {
	text, _ := json.Marshal(r) // texts and flags do not fail
	return string(text)
}

// Open implements source.Source. It asks for the file before its bytes: these may be newer
// than its etag, and never older.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	var at ref
	if err := json.Unmarshal([]byte(o.Ref), &at); err != nil {
		return nil, o, knowledge.Errorf(knowledge.CodeInvalid, "the object is none of SharePoint")
	}
	if at.Part.List {
		return s.openTable(ctx, at, o, known)
	}
	var i item
	if err := s.client.get(ctx, at.Part.path()+"items/"+escape(at.Item), nil, &i); err != nil {
		return nil, o, err
	}
	if i.Deleted != nil || i.File == nil {
		return nil, o, source.NotFound("file", o.Path())
	}
	if o.ETag = at.Part.etag(i); known != "" && known == o.ETag {
		return nil, o, source.ErrUnchanged
	}
	if at.Part.Pages && i.isPage() {
		return s.openPage(ctx, at, i, o)
	}
	answer, body, err := s.client.open(ctx, at.Part.path()+"items/"+escape(at.Item)+"/content") //nolint:bodyclose // Body closes it
	if err != nil {
		return nil, o, err
	}
	o.Bytes = answer.ContentLength
	return body, o, nil
}

// inMemory returns the bytes of an object that was made here.
func inMemory(data []byte, o source.Object) (io.ReadCloser, source.Object, error) {
	o.Bytes = int64(len(data))
	return io.NopCloser(bytes.NewReader(data)), o, nil
}
