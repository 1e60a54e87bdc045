package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// storeContent stores the bytes that came with a document and finds out what
// kind of file they are. Those behind an address come with the ingestion.
func (in *Intake) storeContent(ctx context.Context, project knowledge.Project, c Content, nv *store.NewVersion) error {
	nv.SourceKey = newUploadKey(*nv)
	limit := in.fileLimit(project)
	switch {
	case c.URL != nil:
		nv.SourceURL, nv.MediaType = *c.URL, extract.Declared(c.MediaType)
		return nil
	case c.Text != nil:
		limit = min(limit, in.cfg.TextBytes)
		if int64(len(*c.Text)) > limit {
			return knowledge.TooLarge("text in content.text", limit)
		}
		return in.putOriginal(ctx, strings.NewReader(*c.Text), c.MediaType, nv)
	}
	decoded := func() io.Reader { return base64.NewDecoder(base64.StdEncoding, strings.NewReader(*c.Base64)) }
	switch n, err := io.Copy(io.Discard, decoded()); {
	case err != nil:
		return knowledge.Invalid("body.content.base64", "is not base64")
	case n > limit:
		return knowledge.TooLarge("file in content.base64", limit)
	}
	return in.putOriginal(ctx, decoded(), c.MediaType, nv)
}

// putOriginal finds out by the first bytes of a file what it is, and stores it. A
// kind that is not supported (CodeUnsupportedFormat), or an empty file
// (CodeEmpty), is refused before anything is stored; too much text is refused as
// soon as it has come (CodeTooLarge). declared is the media type that came with
// the file, "" if none did.
func (in *Intake) putOriginal(ctx context.Context, r io.Reader, declared string, nv *store.NewVersion) error {
	head, whole, err := readHead(r)
	if err != nil {
		return fmt.Errorf("read a file: %w", err)
	}
	if nv.MediaType, err = extract.Sniff(nv.Name, declared, head[:min(len(head), extract.HeadBytes)]); err != nil {
		return err
	}
	if err := checkPages(*nv); err != nil {
		return err
	}
	body := io.MultiReader(bytes.NewReader(head), r)
	if extract.IsText(nv.MediaType) {
		body = bounded(body, "text of the file", in.cfg.TextBytes)
	}
	if !whole {
		if err := in.lease(ctx, nv); err != nil {
			return err
		}
	}
	ref, err := in.deps.Blobs.PutReader(ctx, nv.SourceKey, body)
	if err != nil {
		return fmt.Errorf("store a file: %w", err)
	}
	nv.Bytes, nv.Digest = ref.Bytes, digest(ref.SHA256, nv.MediaType, strconv.Itoa(knowledge.PipelineVersion))
	return nil
}

// digest returns a hash of what decides what becomes of an upload, beside its settings.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:])
}

// readHead reads the first bytes of a file. whole reports that there are no more.
func readHead(r io.Reader) (head []byte, whole bool, err error) {
	head = make([]byte, extract.HeadBytes, smallUpload)
	n, err := io.ReadFull(r, head)
	if err == nil {
		var more int
		more, err = io.ReadFull(r, head[n:cap(head)])
		n += more
	}
	if whole = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); whole {
		err = nil
	}
	return head[:n], whole, err
}

// dropOriginal deletes the bytes of a document that was refused. After an error
// that leaves open whether a version refers to them they stay, and a sweep decides.
func (in *Intake) dropOriginal(ctx context.Context, nv store.NewVersion, refusal error) {
	if isRefusal(refusal) {
		in.deleteOriginal(ctx, nv)
	}
}

// deleteOriginal deletes the bytes of an upload that became no version.
func (in *Intake) deleteOriginal(ctx context.Context, nv store.NewVersion) {
	if nv.SourceKey == "" {
		return
	}
	for _, key := range []string{nv.SourceKey, blob.BesideUpload(nv.SourceKey, blob.Transcript)} {
		if err := in.deps.Blobs.Delete(context.WithoutCancel(ctx), key); err != nil {
			in.deps.Log.WarnContext(ctx, "delete the bytes of an upload", "document", nv.DocumentID, "error", err)
			return
		}
	}
	if nv.Leased {
		if err := in.deps.Store.EndUpload(context.WithoutCancel(ctx), nv.SourceKey); err != nil {
			in.deps.Log.WarnContext(ctx, "end an upload", "document", nv.DocumentID, "error", err)
		}
	}
}

// isRefusal reports whether an error says for certain that nothing was done.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*knowledge.Error](err)
	return ok && e.Code != knowledge.CodeInternal && e.Code != knowledge.CodeUnavailable
}

// fileLimit returns the bytes that a file of the project may have.
func (in *Intake) fileLimit(project knowledge.Project) int64 {
	if limit := project.Config.Limits.FileBytes; limit > 0 {
		return min(limit, in.cfg.FileBytes)
	}
	return in.cfg.FileBytes
}

func newUploadKey(nv store.NewVersion) string {
	return blob.UploadKey(nv.Workspace, nv.Project, nv.DocumentID, knowledge.NewID())
}

// limited reads up to a limit and fails beyond it.
type limited struct {
	subject string // what is bounded, for the error
	r       io.Reader
	left    int64
	limit   int64
}

func bounded(r io.Reader, subject string, bytes int64) io.Reader {
	return &limited{subject: subject, r: r, left: bytes, limit: bytes}
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, knowledge.TooLarge(l.subject, l.limit)
	}
	return n, err
}
