package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxFormField bounds a field of a form that is not a file, in bytes.
const maxFormField = 64 << 10

// field reads a part that is not a file.
func (f *form) field(part *multipart.Part) error {
	name := part.FormName()
	value, err := fieldValue(part, name, maxFormField)
	if err != nil {
		return err
	}
	if f.seen[name] && slices.Contains([]string{"access", "externalUserId", "external_user_id", "conversationId", "override", "parser", "classification", "subjects", "force", "import"}, name) {
		return knowledge.Invalid("body."+name, "must be given once")
	}
	f.seen[name] = true
	return f.attribute(name, value)
}

// fieldValue reads the text of a part, at most limit bytes.
func fieldValue(part *multipart.Part, name string, limit int) ([]byte, error) {
	value, err := io.ReadAll(io.LimitReader(part, int64(limit)+1))
	switch {
	case err != nil:
		return nil, edge.BodyError(err)
	case len(value) > limit:
		return nil, knowledge.Invalid("body."+name, "must have at most %d bytes", limit)
	case !utf8.Valid(value):
		return nil, knowledge.Errorf(knowledge.CodeMalformed, "the field %q is not UTF-8", name)
	}
	return value, nil
}

// attribute reads a field that describes the files.
func (f *form) attribute(name string, value []byte) error {
	a := &f.attributes
	switch name {
	case "tags":
		return f.tag(value)
	case "metadata":
		if err := jsonField(value, &a.Metadata); err != nil || a.Metadata == nil {
			return knowledge.Invalid("body.metadata", "must be a JSON object")
		}
	case "externalId":
		a.ExternalID = string(value)
	case "classification":
		a.Classification = new(string(value))
	case "subjects":
		return f.decode(name, value, &a.Subjects)
	case "externalUserId":
		f.customer.ExternalUserID = string(value)
	case "external_user_id":
		f.customer.ExternalUserIDSnake = string(value)
	case "conversationId":
		a.ConversationID = string(value)
	case "parser":
		a.Override.Parser = knowledge.Parser(value)
	case "force":
		return f.decode(name, value, &a.Force)
	case "access":
		var access accessBody
		err := f.decode(name, value, &access)
		a.Access = access.access()
		return err
	case "override":
		var override overrideBody
		err := f.decode(name, value, &override)
		a.Override, a.Password = override.override(string(a.Override.Parser)), override.password()
		f.overridden, f.subjects = override.Classification, override.Subjects
		return err
	case "import":
		return f.decode(name, value, &f.choice)
	default:
		return knowledge.Invalid("body."+name, "is not a field of this form; it has files, tags, metadata, classification, subjects, externalId, access, externalUserId (external_user_id), conversationId, override, parser, force and import")
	}
	return nil
}

// tag reads tags: a JSON list of them, or one.
func (f *form) tag(value []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(value), []byte("[")) {
		f.attributes.Tags = append(f.attributes.Tags, string(value))
		return nil
	}
	var tags []string
	if err := jsonField(value, &tags); err != nil {
		return knowledge.Invalid("body.tags", "must be a JSON list of text, or one tag")
	}
	f.attributes.Tags = append(f.attributes.Tags, tags...)
	return nil
}

func jsonField(value []byte, v any) error {
	if err := edge.ParseJSON(value, new(any)); err != nil {
		return err
	}
	return json.Unmarshal(value, v)
}

// spoolFile is a request body on disk.
type spoolFile struct {
	file   *os.File
	failed error // of a write, which is ours and not the client's
}

// Write implements io.Writer.
func (s *spoolFile) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil {
		s.failed = fmt.Errorf("keep an upload: %w", err)
	}
	return n, err
}

// remove deletes the file. Removing none does nothing.
func (s *spoolFile) remove() {
	if s == nil {
		return
	}
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}

// spool writes a form to disk and hashes what is in it: two requests with the
// same fields and files are the same, though their boundaries differ.
func (ff *fileForms) spool(body io.Reader, boundary string) (*spoolFile, string, error) {
	out, err := ff.newSpool()
	if err != nil {
		return nil, "", err
	}
	hash, err := out.take(body, boundary)
	if err != nil {
		out.remove()
		return nil, "", err
	}
	return out, hash, nil
}

func (s *spoolFile) take(body io.Reader, boundary string) (hash string, err error) {
	hash, err = hashForm(multipart.NewReader(io.TeeReader(body, s), boundary))
	if s.failed != nil {
		return "", s.failed
	}
	if err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	return hash, err
}

func hashForm(parts *multipart.Reader) (string, error) {
	sum := sha256.New()
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", edge.BodyError(err)
		}
		content := sha256.New()
		if _, err := io.Copy(content, part); err != nil {
			return "", edge.BodyError(err)
		}
		fmt.Fprintf(sum, "%q %q %x\n", part.FormName(), part.Header.Get("Content-Disposition"), content.Sum(nil))
	}
}
