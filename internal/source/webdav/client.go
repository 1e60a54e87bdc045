package webdav

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The bounds of one listing of a folder.
const (
	maxListing  = 256 << 20 // bytes
	maxChildren = 200_000
)

// client speaks WebDAV to one server.
type client struct {
	http     *http.Client
	base     *url.URL // of the tree, with "/" at its end
	username string
	secret   string
	mirror   bool
}

// entry is a file or a folder, as PROPFIND describes it.
type entry struct {
	path   string // below the base, without "/" at its ends; "" = the base
	folder bool
	id     string // stays when the entry is moved, "" = the server has none
	etag   string
	bytes  int64
	kind   string // media type
	at     time.Time
	owner  string
	shares []sharee
}

// sharee is somebody with whom an entry is shared.
type sharee struct {
	Kind string `xml:"http://nextcloud.org/ns type"`
	ID   string `xml:"http://nextcloud.org/ns id"`
}

// ask is the body of each PROPFIND.
const ask = `<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><d:prop>` +
	`<d:resourcetype/><d:getetag/><d:getcontentlength/><d:getcontenttype/><d:getlastmodified/><oc:fileid/>%s</d:prop></d:propfind>`

// response is one entry of the answer to PROPFIND.
type response struct {
	Href  string `xml:"DAV: href"`
	Props []struct {
		Status string `xml:"DAV: status"`
		Prop   prop   `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

type prop struct {
	Collection *struct{} `xml:"DAV: resourcetype>collection"`
	ETag       string    `xml:"DAV: getetag"`
	Length     string    `xml:"DAV: getcontentlength"`
	Type       string    `xml:"DAV: getcontenttype"`
	Modified   string    `xml:"DAV: getlastmodified"`
	ID         string    `xml:"http://owncloud.org/ns fileid"`
	Owner      string    `xml:"http://owncloud.org/ns owner-id"`
	Sharees    []sharee  `xml:"http://nextcloud.org/ns sharees>sharee"`
}

// children returns the entries of a folder by name. A folder that is not there is
// CodeNotFound.
func (c *client) children(ctx context.Context, folder string) ([]entry, error) {
	list, err := c.propfind(ctx, folder, true, "1")
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(list, func(e entry) bool { return e.path == folder && e.folder }) {
		return nil, source.Unavailable(errNoFolder) // half an answer must not look like an empty folder
	}
	list = slices.DeleteFunc(list, func(e entry) bool { return e.path == folder || parentOf(e.path) != folder })
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(list, func(a, b entry) bool { return a.path == b.path }), nil
}

func parentOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// stat returns one entry.
func (c *client) stat(ctx context.Context, p string, folder bool) (entry, error) {
	list, err := c.propfind(ctx, p, folder, "0")
	if err != nil {
		return entry{}, err
	}
	for _, e := range list {
		if e.path == p {
			return e, nil
		}
	}
	return entry{}, source.NotFound("file", p)
}

// propfind asks for the properties of an entry and, with depth 1, of its children.
func (c *client) propfind(ctx context.Context, p string, folder bool, depth string) (list []entry, err error) {
	more := ""
	if c.mirror {
		more = "<oc:owner-id/><nc:sharees/>"
	}
	err = source.Retry(ctx, func() error {
		answer, err := c.send(ctx, "PROPFIND", p, folder, strings.NewReader(fmt.Sprintf(ask, more)), http.Header{
			"Depth": {depth}, "Content-Type": {"application/xml; charset=utf-8"},
		})
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusMultiStatus {
			return c.refused(answer, "folder", p)
		}
		list, err = c.parse(answer.Body)
		return err
	})
	return list, err
}

// send sends a request for an entry.
func (c *client) send(ctx context.Context, method, p string, folder bool, body io.Reader, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.address(p, folder), body)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of %q is not valid", p).WithCause(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", "cairn")
	if c.username != "" {
		request.SetBasicAuth(c.username, c.secret)
	} else if c.secret != "" {
		request.Header.Set("Authorization", "Bearer "+c.secret)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	return answer, nil
}

// address returns the address of an entry.
func (c *client) address(p string, folder bool) string {
	u := *c.base
	u.Path, u.RawPath = c.base.Path+p, "" // names may have any character
	text := u.String()
	if folder && !strings.HasSuffix(text, "/") {
		text += "/"
	}
	return text
}

// refused returns the error for an answer that is none.
func (c *client) refused(answer *http.Response, subject, name string) error {
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return knowledge.Errorf(knowledge.CodeForbidden, "the server refused the %s %q: check options.username and the secret of the connection, which is an app password of a user who may read it", subject, name)
	case http.StatusNotFound, http.StatusGone:
		return knowledge.Errorf(knowledge.CodeNotFound, "there is no %s %q; check options.url of the connection and the scope of the sync", subject, name)
	}
	return source.FromStatus(answer.StatusCode, answer.Header, subject, name)
}

// errNoFolder is the cause of the error for a listing without the folder itself.
var errNoFolder = errors.New("the listing does not have the folder itself")

// errListing is the cause of the error for a listing that is too long.
var errListing = errors.New("the listing of a folder is too long")

// parse reads the entries of an answer, one by one. An answer that ends early is an error.
func (c *client) parse(body io.Reader) ([]entry, error) {
	bounded := &io.LimitedReader{R: body, N: maxListing}
	d := xml.NewDecoder(bounded)
	var list []entry
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && bounded.N > 0 {
			return list, nil
		}
		if err != nil || bounded.N <= 0 {
			return nil, source.Unavailable(errors.Join(err, errIf(bounded.N <= 0)))
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "response" || start.Name.Space != "DAV:" {
			continue
		}
		var r response
		if err := d.DecodeElement(&r, &start); err != nil {
			return nil, source.Unavailable(err)
		}
		if e, ok := c.entry(r); ok {
			list = append(list, e)
		}
		if len(list) > maxChildren {
			return nil, knowledge.Errorf(knowledge.CodeInvalid, "a folder has more than %d entries: divide it", maxChildren)
		}
	}
}

func errIf(tooLong bool) error {
	if tooLong {
		return errListing
	}
	return nil
}

// entry returns what a response describes; ok is false for an entry outside of the base.
func (c *client) entry(r response) (e entry, ok bool) {
	u, err := url.Parse(strings.TrimSpace(r.Href))
	if err != nil {
		return e, false
	}
	at := path.Clean("/" + u.Path)
	base := strings.TrimSuffix(c.base.Path, "/")
	if at != base && !strings.HasPrefix(at, base+"/") {
		return e, false
	}
	e.path, e.bytes = strings.Trim(strings.TrimPrefix(at, base), "/"), -1
	for _, p := range r.Props {
		if p.Status != "" && !strings.Contains(p.Status, " 200") {
			continue
		}
		e.add(p.Prop)
		ok = true
	}
	return e, ok
}

// add adds properties to an entry.
func (e *entry) add(p prop) {
	e.folder = e.folder || p.Collection != nil
	e.id, e.owner, e.kind = p.ID, p.Owner, p.Type
	e.shares = append(e.shares, p.Sharees...)
	e.etag = cleanTag(p.ETag)
	if n, err := strconv.ParseInt(p.Length, 10, 64); err == nil {
		e.bytes = n
	}
	if at, err := http.ParseTime(p.Modified); err == nil {
		e.at = at
	}
	if e.etag == "" && (p.Modified != "" || e.bytes >= 0) {
		e.etag = fmt.Sprintf("m:%s:%d", p.Modified, e.bytes)
	}
}

// cleanTag returns an etag without its quotes, and without the suffix of a compressing
// proxy.
func cleanTag(tag string) string {
	tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
	return strings.TrimSuffix(tag, "-gzip")
}

// get opens a file. The caller closes the body.
func (c *client) get(ctx context.Context, p string) (*http.Response, *source.Body, error) {
	return source.OpenBody(ctx, func(ctx context.Context) (*http.Response, error) {
		return c.send(ctx, http.MethodGet, p, false, nil, http.Header{"Accept-Encoding": {"identity"}})
	}, func(answer *http.Response) error { return c.refused(answer, "file", p) })
}
