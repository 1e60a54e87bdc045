package webdav

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The bounds of a walk.
const (
	foldersPerPage = 500
	maxDepth       = 100
)

// errMoved is the cause of the error for a file that was replaced while it was opened.
var errMoved = errors.New("the file was replaced while it was opened")

// walk lists one page of a tree, in the order of the names in each folder.
type walk struct {
	*Source
	objects []source.Object
	left    int    // objects of the page
	folders int    // that may still be listed for the page
	last    string // path of the last file, or of the last folder with "/" behind
	stopped bool   // the page is full
}

// walk lists what is below a folder behind a path, "" = all of it. rights are those of the
// folder.
func (w *walk) walk(ctx context.Context, folder string, rights rights, after string) error {
	if strings.Count(folder, "/") > maxDepth {
		return knowledge.Errorf(knowledge.CodeInvalid, "folders are nested more than %d levels deep", maxDepth)
	}
	list, err := w.client.children(ctx, folder)
	if knowledge.IsCode(err, knowledge.CodeNotFound) && folder != w.folder {
		return nil // it was removed since its parent was listed
	}
	if err != nil {
		return err
	}
	w.folders--
	for _, e := range list {
		if w.stopped {
			return nil
		}
		inside, skip := w.behind(e, after)
		if skip {
			continue
		}
		if err := w.visit(ctx, e, rights.with(e), inside); err != nil {
			return err
		}
	}
	return nil
}

// behind reports whether an entry is listed already, and after which path inside of it the
// listing continues.
func (w *walk) behind(e entry, after string) (inside string, skip bool) {
	if after == "" {
		return "", false
	}
	if e.folder && strings.HasPrefix(after, e.path+"/") {
		if after == e.path+"/" {
			return "", true
		}
		return after, false
	}
	done := strings.TrimSuffix(after, "/")
	if e.path == done { // a folder in place of a file, or a file in place of a folder, is new
		return "", e.folder == strings.HasSuffix(after, "/")
	}
	return "", !strings.HasPrefix(done, e.path+"/") && comparePaths(e.path, done) < 0
}

// comparePaths orders paths as the walk visits them.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// visit lists a file, or what is below a folder.
func (w *walk) visit(ctx context.Context, e entry, rights rights, after string) error {
	if e.folder {
		if w.folders <= 0 && len(w.objects) > 0 || w.left == 0 {
			w.stopped = true
			return nil
		}
		if err := w.walk(ctx, e.path, rights, after); err != nil || w.stopped {
			return err
		}
		w.last = e.path + "/"
		if w.folders <= 0 {
			w.stopped = true
		}
		return nil
	}
	if w.left == 0 {
		w.stopped = true
		return nil
	}
	w.left--
	w.objects, w.last = append(w.objects, w.object(e, rights)), e.path
	return nil
}

// object returns the object of a file.
func (w *walk) object(e entry, r rights) source.Object {
	o := source.Object{
		Key: w.key(e), Address: w.link(e), ETag: e.etag, Bytes: e.bytes, MediaType: e.kind, Modified: e.at, Ref: e.path,
		Name: strings.TrimPrefix(strings.TrimPrefix(e.path, w.folder), "/"),
	}
	if w.follow.Mirror {
		o.Access = r.access()
	}
	return o
}

// key returns the key of a file: its id, or its path on a server without ids.
func (s *Source) key(e entry) string {
	if e.id != "" {
		return "id:" + e.id
	}
	return e.path
}

// link returns an address that stays when the file is moved, if the server has one.
func (s *Source) link(e entry) string {
	before, _, found := strings.Cut(s.client.base.Path, "/remote.php/")
	if e.id == "" || !found {
		return s.client.address(e.path, false)
	}
	u := *s.client.base
	u.Path, u.RawPath = before+"/f/"+e.id, ""
	return u.String()
}
