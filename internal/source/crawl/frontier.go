package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/source"
)

// The names of what a crawl saves.
const frontierName = "frontier"

func bodyName(address string) string { return source.Temporary + shortHash(address) }
func pageName(address string) string { return "page/" + shortHash(address) }

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// contentTagStart begins the etag of a page, which is a hash of its bytes: the
// validators of pages change more often than their bytes.
const contentTagStart = "sha256:"

func contentTag(body []byte) string {
	sum := sha256.Sum256(body)
	return contentTagStart + hex.EncodeToString(sum[:16])
}

func isContentTag(etag string) bool { return strings.HasPrefix(etag, contentTagStart) }

// maxQueue is the largest number of addresses that wait.
const maxQueue = 100_000

// target is an address to visit.
type target struct {
	Address string `json:"a"`
	Depth   int    `json:"d,omitempty"` // links from the start
	Tries   int    `json:"t,omitempty"` // that failed
	// Modified is when a sitemap says that the page was changed, "" = none does.
	Modified string `json:"m,omitempty"`
}

// frontier is the state of a crawl between two calls of List.
type frontier struct {
	Step     int               `json:"step"`
	Last     source.Page       `json:"last"`  // of the step before
	Hosts    []string          `json:"hosts"` // whose pages are visited
	Robots   map[string]string `json:"robots"`
	Sitemaps []string          `json:"sitemaps"` // to be read
	Read     int               `json:"read"`     // sitemaps
	Tries    int               `json:"tries"`    // of the next sitemap
	Queue    []target          `json:"queue"`
	Pages    int               `json:"pages"` // listed or unchanged
	Patterns map[string]int    `json:"patterns"`
	Queries  map[string]int    `json:"queries"`
	SeenBits []byte            `json:"seen"` // eight bytes each

	seen map[uint64]bool // hashes of addresses and of bodies
}

func newFrontier(start string) *frontier {
	return &frontier{
		Robots: map[string]string{}, Patterns: map[string]int{}, Queries: map[string]int{}, seen: map[uint64]bool{},
		Queue: []target{{Address: start}},
	}
}

// token returns the continuation token of a step.
func (f *frontier) token(step int) string {
	if step == 0 {
		return ""
	}
	return strconv.Itoa(step)
}

// isDone reports whether nothing is left to visit.
func (f *frontier) isDone(pages int) bool {
	return f.Pages >= pages || len(f.Queue) == 0 && len(f.Sitemaps) == 0
}

// see notes a text, and reports whether it was not noted before.
func (f *frontier) see(text string) bool {
	sum := sha256.Sum256([]byte(text))
	hash := binary.BigEndian.Uint64(sum[:8])
	if f.seen[hash] {
		return false
	}
	f.seen[hash] = true
	f.SeenBits = binary.BigEndian.AppendUint64(f.SeenBits, hash)
	return true
}

func (s *Source) loadFrontier(ctx context.Context) (*frontier, error) {
	data, err := s.state.Load(ctx, frontierName)
	if err != nil {
		return nil, err
	}
	f := newFrontier(s.start)
	if data == nil {
		return f, nil
	}
	f.Queue = nil
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("read the state of the crawl: %w", err)
	}
	for bits := f.SeenBits; len(bits) >= 8; bits = bits[8:] {
		f.seen[binary.BigEndian.Uint64(bits)] = true
	}
	return f, nil
}

func (s *Source) saveFrontier(ctx context.Context, f *frontier) error {
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write the state of the crawl: %w", err)
	}
	return s.state.Save(ctx, frontierName, data)
}
