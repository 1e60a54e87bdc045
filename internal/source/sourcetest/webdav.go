package sourcetest

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// WebDAV is a fake of Nextcloud's WebDAV: PROPFIND of depth 0 and 1, and GET. Set its
// fields before it serves.
type WebDAV struct {
	World    *World
	Base     string // path of the files
	Username string
	Password string
	// Fail decides which requests fail. Defaults to none.
	Fail func(*http.Request) bool
}

// NewWebDAV returns a server of a world under Nextcloud's path.
func NewWebDAV(w *World) *WebDAV {
	return &WebDAV{World: w, Base: "/remote.php/dav/files/ann", Username: "ann", Password: "app-password"}
}

// ServeHTTP implements http.Handler.
func (d *WebDAV) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.Fail != nil && d.Fail(r) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if user, password, ok := r.BasicAuth(); !ok || user != d.Username || password != d.Password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path, inside := strings.CutPrefix(r.URL.Path, d.Base)
	item, children, there := d.World.Find(strings.Trim(path, "/"))
	switch {
	case !inside || !there:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == "PROPFIND":
		d.propfind(w, r, item, children)
	case r.Method == http.MethodGet && !item.Folder:
		w.Header().Set("ETag", `"`+tagOf(item)+`"`)
		w.Header().Set("Content-Type", "text/plain")
		put(w, "%s", item.Content)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func tagOf(i Item) string { return fmt.Sprintf("%dv%d", i.ID, i.Version) }

func (d *WebDAV) propfind(w http.ResponseWriter, r *http.Request, item Item, children []Item) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(http.StatusMultiStatus)
	put(w, `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">`)
	at := strings.TrimSuffix(r.URL.Path, "/")
	d.response(w, at, item)
	if r.Header.Get("Depth") == "1" && item.Folder {
		for _, c := range children {
			d.response(w, at+"/"+c.Name, c)
		}
	}
	put(w, `</d:multistatus>`)
}

func (d *WebDAV) response(w http.ResponseWriter, path string, i Item) {
	kind, length := "<d:resourcetype/>", fmt.Sprintf("<d:getcontentlength>%d</d:getcontentlength>", len(i.Content))
	if i.Folder {
		kind, length, path = "<d:resourcetype><d:collection/></d:resourcetype>", "", path+"/"
	}
	put(w, "<d:response><d:href>%s</d:href><d:propstat><d:prop>%s%s<d:getetag>&quot;%s&quot;</d:getetag><d:getlastmodified>%s</d:getlastmodified><oc:fileid>%d</oc:fileid>",
		text((&url.URL{Path: path}).EscapedPath()), kind, length, tagOf(i), time.Unix(int64(i.Changed), 0).UTC().Format(http.TimeFormat), i.ID)
	put(w, "<oc:owner-id>%s</oc:owner-id><nc:sharees>", text(i.Owner))
	for kind, names := range [][]string{i.Users, i.Groups} {
		for _, name := range names {
			put(w, "<nc:sharee><nc:id>%s</nc:id><nc:type>%d</nc:type></nc:sharee>", text(name), kind)
		}
	}
	put(w, "</nc:sharees></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")
}

// text returns a text as XML.
func text(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// put writes to a client, which may have gone.
func put(w http.ResponseWriter, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}
