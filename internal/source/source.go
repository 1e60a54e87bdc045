package source

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// MaxPage is the largest number of objects in a Page.
const MaxPage = 1000

// MaxToken is the largest number of bytes in a continuation token.
const MaxToken = 4 << 10

// ErrUnchanged is returned by Source.Open if the object still has the ETag that
// the caller knows.
var ErrUnchanged = errors.New("the object is unchanged")

// Source is a place that holds objects. It is safe for concurrent use.
//
// Errors are *knowledge.Error. A retryable one can succeed later, after
// RetryAfter if that is set. A failed Open concerns one object; the others can
// still be opened.
type Source interface {
	// List returns the page of objects that begins at token, "" for the first.
	// The same token returns the same page again, unless objects were added or
	// removed meanwhile. A token stays valid when the process restarts.
	List(ctx context.Context, token string) (Page, error)
	// Open returns the bytes of an object and the object as it is read: its
	// current ETag, size and media type, so that the caller sees a change since
	// the listing. known is the ETag of the bytes that the caller has, "" for
	// none; if the object still has it, Open may return ErrUnchanged.
	// The caller closes the reader. An error of Read is a *knowledge.Error too.
	Open(ctx context.Context, object Object, known string) (io.ReadCloser, Object, error)
}

// Object is one object of a Source.
type Object struct {
	// Key is the path of the object inside the source, with "/" as separator:
	// below the folder of the prefix for a bucket, inside the archive for an
	// archive, the address for a page. It is unique in the source and valid
	// UTF-8.
	Key string `json:"key"`
	// Address is the whole address ("s3://bucket/folder/a.pdf", "https://…"),
	// "" for a member of an archive. It contains no secret.
	Address string `json:"address,omitempty"`
	// ETag changes with the bytes. "" means that only Open knows it.
	ETag string `json:"etag,omitempty"`
	// Bytes is the size, -1 if only Open knows it.
	Bytes int64 `json:"bytes"`
	// MediaType is the type that the source declares, "" for none. The type of
	// a document is decided by its content.
	MediaType string `json:"media_type,omitempty"`
	// Modified is the time of the last change, zero if it is not known.
	Modified time.Time `json:"modified,omitzero"`
	// Ref is for the adapter alone: what Open needs besides Key.
	Ref string `json:"ref,omitempty"`
	// Name is the path of an object in a place whose Key is an id that stays when the
	// object is moved or renamed. "" = Key.
	Name string `json:"name,omitempty"`
	// Tags are the labels that the place gives the object; nil = it has none to give.
	Tags []string `json:"tags,omitempty"`
	// Access is who may see the object in its place, nil if it is not carried over. An
	// Access that names nobody hides the object from everybody.
	Access *knowledge.Access `json:"access,omitempty"`
	// Transcript is the object with the transcript of a recording, nil if there is
	// none. The caller of List sets it; a Source does not look at it.
	Transcript *Object `json:"transcript,omitempty"`
}

// Path returns the name of the object that a user knows.
func (o Object) Path() string { return cmp.Or(o.Name, o.Key) }

// Hidden reports whether nobody may see an object whose rights are carried over.
func (o Object) Hidden() bool {
	return o.Access != nil && !o.Access.Workspace && len(o.Access.Users)+len(o.Access.Groups) == 0
}

// Page is a part of a listing.
type Page struct {
	// Objects are at most MaxPage objects. A page without objects is not
	// necessarily the last one.
	Objects []Object `json:"objects"`
	// Next is the token of the next page, "" after the last. It has at most
	// MaxToken bytes and contains no secret.
	Next string `json:"next,omitempty"`
	// Removed are the keys of objects that are gone from a place that is followed. It
	// may name keys that were never listed.
	Removed []string `json:"removed,omitempty"`
	// Full reports on the last page of a place that is followed that the listing had
	// every object: what it did not list is gone.
	Full bool `json:"full,omitempty"`
	// Cursor is set on the last page of a place that is followed: Follow.Cursor of the
	// next listing, which then has at least every change since this one began.
	Cursor string `json:"cursor,omitempty"`
}

// Temporary begins the names of values that only the import that saved them
// needs. The caller may delete them when that import has ended.
const Temporary = "temporary/"

// State keeps what a Source needs between two calls of List, such as the
// addresses that a crawl has still to visit. It belongs to one import and
// outlives the process. Names consist of lower-case letters, digits and "/".
type State interface {
	// Load returns the value that was saved last under a name, nil if there is
	// none.
	Load(ctx context.Context, name string) ([]byte, error)
	// Save replaces the value of a name at once: after a crash the name has the
	// old value or the new one.
	Save(ctx context.Context, name string, value []byte) error
}
