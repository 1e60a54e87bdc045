package archive

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Source is a zip archive. It implements source.Source.
type Source struct {
	outer *directory

	mu    sync.Mutex
	last  int        // the member that inner was read from
	inner *directory // the inner archive that was read last
}

// New reads the directory of an archive. A file that is no zip archive, is
// truncated, or has too many members is a *knowledge.Error.
func New(file *io.SectionReader) (*Source, error) {
	outer, err := readDirectory(storage{file}, file.Size(), maxTotal)
	if err != nil {
		return nil, err
	}
	return &Source{outer: outer, last: -1}, nil
}

// place is the position of a member: its index, and the index inside it if it is
// an archive itself.
type place struct{ outer, inner int }

const notNested = -1

func (p place) String() string {
	if p.inner == notNested {
		return strconv.Itoa(p.outer)
	}
	return fmt.Sprintf("%d.%d", p.outer, p.inner)
}

func parsePlace(text string) (place, error) {
	outer, inner, nested := strings.Cut(text, ".")
	p := place{inner: notNested}
	var err error
	if p.outer, err = strconv.Atoi(outer); err == nil && nested {
		p.inner, err = strconv.Atoi(inner)
	}
	if err != nil || p.outer < 0 || p.inner < notNested {
		return place{}, knowledge.Errorf(knowledge.CodeInvalid, "%q is no position in the archive", text)
	}
	return p, nil
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, token string) (source.Page, error) {
	at := place{inner: notNested}
	if token != "" {
		var err error
		if at, err = parsePlace(token); err != nil {
			return source.Page{}, err
		}
	}
	var page source.Page
	for ; at.outer < len(s.outer.members); at = (place{at.outer + 1, notNested}) {
		if len(page.Objects) == source.MaxPage {
			page.Next = at.String()
			return page, nil
		}
		m := s.outer.members[at.outer]
		inner, err := s.open(ctx, at.outer)
		switch {
		case err != nil && ctx.Err() != nil:
			return source.Page{}, ctx.Err()
		case err != nil && knowledge.AsError(err).Retryable:
			return source.Page{}, err
		case err != nil || inner == nil: // Open returns the error
			page.Objects = append(page.Objects, m.object("", place{at.outer, notNested}))
			continue
		}
		for i := max(at.inner, 0); i < len(inner.members); i++ {
			here := place{at.outer, i}
			if len(page.Objects) == source.MaxPage {
				page.Next = here.String()
				return page, nil
			}
			page.Objects = append(page.Objects, inner.members[i].object(m.key+"/", here))
		}
	}
	return page, nil
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	at, err := parsePlace(object.Ref)
	if err != nil {
		return nil, object, err
	}
	if at.outer >= len(s.outer.members) {
		return nil, object, source.NotFound("file", object.Key)
	}
	m, folder := s.outer.members[at.outer], ""
	inner, err := s.open(ctx, at.outer)
	if err != nil {
		return nil, object, err
	}
	if inner != nil {
		if at.inner == notNested || at.inner >= len(inner.members) {
			return nil, object, source.NotFound("file", object.Key)
		}
		m, folder = inner.members[at.inner], m.key+"/"
		if m.isArchive() && m.fault == nil {
			return nil, object, knowledge.Errorf(knowledge.CodeUnsupportedFormat,
				"%q is an archive in an archive in an archive, which is not unpacked; import it by itself", object.Key)
		}
	}
	read := m.object(folder, at)
	if m.fault == nil && known != "" && known == read.ETag {
		return nil, object, source.ErrUnchanged
	}
	body, err := m.open()
	return body, read, err
}

// open returns the directory of a member that is an archive itself, nil for any
// other member. A reader of an inner archive that is replaced here keeps it.
func (s *Source) open(ctx context.Context, index int) (*directory, error) {
	m := s.outer.members[index]
	if m.fault != nil || !m.isArchive() {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == index {
		return s.inner, nil
	}
	inner, err := unpack(ctx, m)
	if err != nil {
		return nil, err
	}
	s.last, s.inner = index, inner
	return inner, nil
}
