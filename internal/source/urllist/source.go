package urllist

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// listTimeout bounds the request of the list.
const listTimeout = 5 * time.Minute

// stateName is the name under which the addresses are saved.
const stateName = "list"

// Source is a list of addresses. It implements source.Source.
type Source struct {
	uri    string
	client *web.Client
	state  source.State
}

// Check refuses a Spec that names no list.
func Check(spec source.Spec) error {
	if isList(spec.URI) {
		_, err := parse([]byte(spec.URI))
		return err
	}
	if err := web.CheckAddress(spec.URI); err != nil {
		return knowledge.Invalid("body.source.uri", "must be the address of a list, or several addresses, one a line")
	}
	return nil
}

// New returns the source that a request describes: the list at the address
// source.uri, or the addresses in it if there are several.
func New(r source.Request, client *web.Client) *Source {
	return &Source{uri: r.URI, client: client, state: r.State}
}

// isList reports whether a source.uri is the list itself.
func isList(uri string) bool { return strings.ContainsAny(uri, "\n\r") }

// List implements source.Source.
func (s *Source) List(ctx context.Context, token string) (source.Page, error) {
	start := 0
	if token != "" {
		var err error
		if start, err = strconv.Atoi(token); err != nil || start < 0 {
			return source.Page{}, knowledge.Errorf(knowledge.CodeInvalid, "%q is no position in the list", token)
		}
	}
	addresses, err := s.addresses(ctx)
	if err != nil {
		return source.Page{}, err
	}
	start = min(start, len(addresses))
	end := min(start+source.MaxPage, len(addresses))
	page := source.Page{Objects: make([]source.Object, 0, end-start)}
	for _, address := range addresses[start:end] {
		page.Objects = append(page.Objects, source.Object{Key: address, Address: address, Bytes: -1})
	}
	if end < len(addresses) {
		page.Next = strconv.Itoa(end)
	}
	return page, nil
}

// addresses returns the list as it was when the import began.
func (s *Source) addresses(ctx context.Context) ([]string, error) {
	saved, err := s.state.Load(ctx, stateName)
	if err != nil {
		return nil, err
	}
	var addresses []string
	if saved != nil {
		err := json.Unmarshal(saved, &addresses)
		return addresses, err
	}
	data := []byte(s.uri)
	if !isList(s.uri) {
		if data, err = s.fetch(ctx); err != nil {
			return nil, err
		}
	}
	if addresses, err = parse(data); err != nil {
		return nil, err
	}
	if saved, err = json.Marshal(addresses); err != nil {
		return nil, err
	}
	return addresses, s.state.Save(ctx, stateName, saved)
}

func (s *Source) fetch(ctx context.Context) ([]byte, error) {
	r, err := s.client.Fetch(ctx, web.Request{Address: s.uri, Accept: "text/plain, application/json", Timeout: listTimeout})
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return web.ReadAll(r.Body, maxList)
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	if err := web.CheckAddress(object.Key); err != nil {
		return nil, object, err
	}
	r, err := s.client.Fetch(ctx, web.Request{Address: object.Key, Known: known})
	if err != nil {
		return nil, object, err
	}
	object.ETag, object.Bytes, object.MediaType, object.Modified = r.Validator, r.Bytes, r.MediaType, r.Modified
	return r.Body, object, nil
}
