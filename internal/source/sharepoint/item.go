package sharepoint

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The causes of errors.
var (
	errSignature = errors.New("the signed address of a file was refused")
	errParent    = errors.New("a folder above a file is not shown, and may have been removed")
)

// item is a file or a folder of a drive.
type item struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	ETag     string    `json:"eTag"`
	CTag     string    `json:"cTag"` // changes with the content alone
	Size     int64     `json:"size"`
	Modified time.Time `json:"lastModifiedDateTime"`
	WebURL   string    `json:"webUrl"`
	Parent   struct {
		ID string `json:"id"`
	} `json:"parentReference"`
	File *struct {
		MimeType string `json:"mimeType"`
		Hashes   struct {
			QuickXor string `json:"quickXorHash"`
		} `json:"hashes"`
	} `json:"file"`
	Folder  *struct{} `json:"folder"`
	Package *struct{} `json:"package"` // a notebook
	Root    *struct{} `json:"root"`
	Remote  *struct{} `json:"remoteItem"` // a shortcut to elsewhere
	Deleted *struct{} `json:"deleted"`
}

// ofFolder reports whether what is below a folder may have changed with the item, which Graph
// does not tell. What is deleted and not named a file may have been a folder. The root of a
// drive is listed with every change below.
func (i item) ofFolder() bool { return i.File == nil && i.Root == nil }

// isPage reports whether the item is a page of a site.
func (i item) isPage() bool { return strings.HasSuffix(strings.ToLower(i.Name), ".aspx") }

// etag changes with the bytes of a file, and with any change of a page: the content of a page
// is no file.
func (d part) etag(i item) string {
	switch {
	case d.Pages && i.isPage():
		return i.ETag
	case i.File != nil && i.File.Hashes.QuickXor != "":
		return i.File.Hashes.QuickXor + ":" + strconv.FormatInt(i.Size, 10)
	}
	return i.CTag
}

// object returns the object of an item of a drive. inside is false if it is deleted, no file,
// or not in the scope.
func (r *run) object(ctx context.Context, d part, i item) (o source.Object, inside bool, err error) {
	if i.Deleted != nil || i.File == nil || i.Remote != nil {
		return o, false, nil
	}
	folder, inside, err := r.pathOf(ctx, d, i.Parent.ID, 0)
	if err != nil || !inside {
		return o, false, err
	}
	o = source.Object{
		Key: keyOf(d, i), Name: joined(d.Name, folder, i.Name),
		ETag: d.etag(i), Bytes: i.Size, Address: r.address(d, i), MediaType: i.File.MimeType, Modified: i.Modified, Ref: ref{Part: d, Item: i.ID, Site: r.at.Site}.text(),
	}
	if d.Pages && i.isPage() {
		o.Name, o.Bytes, o.MediaType = o.Name[:len(o.Name)-len(".aspx")]+".html", -1, "text/html"
	}
	return o, true, nil
}

// uniqueID returns the id that SharePoint gives a file, which its etag begins with.
func (i item) uniqueID() string {
	id, _, _ := strings.Cut(strings.Trim(i.ETag, `"`), ",")
	return strings.ToLower(strings.Trim(id, "{}"))
}

// address returns an address of a file that stays when the file is moved or renamed, as its
// web address does not: the document has its id of it.
func (r *run) address(d part, i item) string {
	u, err := url.Parse(i.WebURL)
	if err != nil || u.Host == "" || i.uniqueID() == "" {
		return r.client.resource + graphVersion + d.path() + "items/" + escape(i.ID)
	}
	site := u.Scheme + "://" + u.Host
	if parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/"); len(parts) > 1 && slices.Contains([]string{"sites", "teams", "personal"}, parts[0]) {
		site += "/" + parts[0] + "/" + parts[1]
	}
	return site + "/_layouts/15/download.aspx?UniqueId=" + escape(i.uniqueID())
}

// joined returns the path of names, some of which may be empty.
func joined(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), "/")
}

func keyOf(d part, i item) string { return d.ID + "/" + i.ID }

// maxDepth bounds how deep folders are nested.
const maxDepth = 100

// pathOf returns the path of a folder below the scope. inside is false if it is not in the
// scope.
func (r *run) pathOf(ctx context.Context, d part, id string, depth int) (path string, inside bool, err error) {
	if id == "" {
		return "", false, nil
	}
	if id == r.at.Next.Folder {
		return "", true, nil
	}
	if depth > maxDepth {
		return "", false, knowledge.Errorf(knowledge.CodeInvalid, "folders are nested more than %d levels deep", maxDepth)
	}
	f, err := r.folder(ctx, d, id)
	if err != nil {
		return "", false, err
	}
	if f.Root != nil || f.Parent.ID == "" {
		return "", r.at.Next.Folder == "", nil
	}
	above, inside, err := r.pathOf(ctx, d, f.Parent.ID, depth+1)
	return joined(above, f.Name), inside, err
}

// folder returns a folder of a drive. One that is not there is an error that can be retried:
// the item below it was listed before the folder was removed, or Graph does not show the
// folder yet.
func (r *run) folder(ctx context.Context, d part, id string) (item, error) {
	if f, known := r.folders[id]; known {
		return f, nil
	}
	var f item
	err := r.client.get(ctx, d.path()+"items/"+escape(id)+"?$select=id,name,parentReference,root,folder", nil, &f)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = source.Unavailable(errParent)
	}
	if err == nil {
		r.folders[id] = f
	}
	return f, err
}
