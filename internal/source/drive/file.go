package drive

import (
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// kindFolder is the media type of folders.
const kindFolder = "application/vnd.google-apps.folder"

// The fields of files that are asked for.
const (
	fileFields   = "id,name,mimeType,parents,md5Checksum,modifiedTime,size,trashed,driveId,permissions(" + rightsFields + ")"
	rightsFields = "type,emailAddress,domain,deleted"
	parentFields = "id,name,mimeType,parents,trashed"
)

// file is a file or a folder of Drive.
type file struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	MimeType    string       `json:"mimeType"`
	Parents     []string     `json:"parents"`
	MD5         string       `json:"md5Checksum"`
	Modified    time.Time    `json:"modifiedTime"`
	Size        string       `json:"size"`
	Trashed     bool         `json:"trashed"`
	Drive       string       `json:"driveId"`
	Permissions []permission `json:"permissions"`
}

func keyOf(id string) string { return "id:" + id }

// etag changes with the bytes.
func (f file) etag() string {
	if f.MD5 != "" {
		return f.MD5
	}
	return "at:" + f.Modified.UTC().Format(time.RFC3339Nano)
}

// exported returns the media type and the extension with which a document of Google is
// read; "" for a file that has bytes of its own. ok is false for what has no text.
func (f file) exported() (media, extension string, ok bool) {
	const office = "application/vnd.openxmlformats-officedocument."
	switch kind, google := strings.CutPrefix(f.MimeType, "application/vnd.google-apps."); {
	case !google:
		return "", "", true
	case kind == "document":
		return office + "wordprocessingml.document", ".docx", true
	case kind == "spreadsheet":
		return office + "spreadsheetml.sheet", ".xlsx", true
	case kind == "presentation":
		return office + "presentationml.presentation", ".pptx", true
	}
	return "", "", false
}

// object returns the object of a file. inside is false if it is not in the scope, in the
// trash, or has no text.
func (s *Source) object(ctx context.Context, f file) (o source.Object, inside bool, err error) {
	media, extension, ok := f.exported()
	if !ok || f.Trashed || f.MimeType == kindFolder {
		return o, false, nil
	}
	folder, inside, err := s.pathOf(ctx, f.Parents, 0)
	if err != nil || !inside {
		return o, false, err
	}
	o = source.Object{
		Key: keyOf(f.ID), Name: strings.TrimPrefix(folder+"/"+strings.ReplaceAll(f.Name, "/", "_")+extension, "/"), ETag: f.etag(), Bytes: -1,
		Address: "https://drive.google.com/open?id=" + url.QueryEscape(f.ID), MediaType: f.MimeType, Modified: f.Modified, Ref: f.ID,
	}
	if n, err := strconv.ParseInt(f.Size, 10, 64); err == nil && media == "" {
		o.Bytes = n
	}
	if media != "" {
		o.MediaType = media
	}
	if s.follow.Mirror {
		o.Access, err = s.access(ctx, f)
	}
	return o, true, err
}

// maxDepth bounds how deep folders are nested.
const maxDepth = 100

// pathOf returns the path of a folder below the scope. inside is false if it is not in the
// scope, or in the trash.
func (s *Source) pathOf(ctx context.Context, parents []string, depth int) (path string, inside bool, err error) {
	if len(parents) == 0 { // shared with the account by itself
		return "", s.follow.Scope.Folder == "" && s.follow.Scope.Drive == "", nil
	}
	id := parents[0]
	if id == s.follow.Scope.Folder || s.follow.Scope.Folder == "" && id == s.follow.Scope.Drive && id != "" {
		return "", true, nil
	}
	if depth > maxDepth {
		return "", false, knowledge.Errorf(knowledge.CodeInvalid, "folders are nested more than %d levels deep", maxDepth)
	}
	f, err := s.folder(ctx, id)
	if err != nil || f != nil && f.Trashed {
		return "", false, err
	}
	if f == nil || len(f.Parents) == 0 { // the root, or what the account does not see
		return "", s.follow.Scope.Folder == "" && s.follow.Scope.Drive == "", nil
	}
	above, inside, err := s.pathOf(ctx, f.Parents, depth+1)
	return strings.TrimPrefix(above+"/"+strings.ReplaceAll(f.Name, "/", "_"), "/"), inside, err
}

// folder returns a folder, nil if the account does not see it.
func (s *Source) folder(ctx context.Context, id string) (*file, error) {
	s.mu.Lock()
	f, known := s.folders[id]
	s.mu.Unlock()
	if known {
		return f, nil
	}
	f = &file{}
	err := s.client.get(ctx, "files/"+url.PathEscape(id), url.Values{"fields": {parentFields}}, f)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		f, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders[id] = f
	return f, nil
}

// forget makes folders be asked for again.
func (s *Source) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.folders)
}

// Open implements source.Source. It asks for the file before its bytes: these may be newer
// than its etag, and never older.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	var f file
	if err := s.client.get(ctx, "files/"+url.PathEscape(o.Ref), url.Values{"fields": {"id,mimeType,md5Checksum,modifiedTime,trashed"}}, &f); err != nil {
		return nil, o, err
	}
	if f.Trashed {
		return nil, o, source.NotFound("file", o.Path())
	}
	o.ETag = f.etag()
	if known != "" && known == o.ETag {
		return nil, o, source.ErrUnchanged
	}
	media, _, _ := f.exported()
	path, query := "files/"+url.PathEscape(o.Ref), url.Values{"alt": {"media"}}
	if media != "" {
		path, query = path+"/export", url.Values{"mimeType": {media}}
	}
	answer, body, err := s.client.open(ctx, path, query) //nolint:bodyclose // Body closes it
	if err != nil {
		return nil, o, err
	}
	o.Bytes = answer.ContentLength
	return body, o, nil
}
