package extract_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/outlook/outlooktest"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestMessageOfOutlook reads a message under several names. Its streams fill more than the
// bytes that are sniffed, so that these need not show what it is.
func TestMessageOfOutlook(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	short := outlooktest.Compound(outlooktest.Object(outlooktest.Root, map[uint32]any{0x0037: "Offer", 0x1000: "The pump costs 400 €."}))
	long := outlooktest.Compound(outlooktest.Object(outlooktest.Root, map[uint32]any{0x0037: "Offer", 0x1000: strings.Repeat("word ", 10_000) + "The pump costs 400 €."}))
	for _, tc := range []struct {
		name string
		data []byte
	}{{"a.msg", short}, {"a.msg", long}, {"a.txt", short}, {"a.doc", short}, {"a.doc", long}, {"a.docx", long}, {"a.eml", short}, {"a", short}} {
		result, err := pool.Extract(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", tc.data), Folder: t.TempDir()})
		if err != nil {
			t.Errorf("%s of %d bytes: %v", tc.name, len(tc.data), err)
			continue
		}
		l := result.Layout
		if l.MediaType != extract.TypeMSG || l.Title != "Offer" || !strings.Contains(l.Blocks[len(l.Blocks)-1].Text, "The pump costs 400 €.") {
			t.Errorf("%s of %d bytes: %s %q %+v", tc.name, len(tc.data), l.MediaType, l.Title, l.Blocks)
		}
	}
	_, err := pool.Extract(t.Context(), extract.Input{Name: "a.msg", Path: write(t, "upload", long[:20_000]), Folder: t.TempDir()})
	wantCode(t, err, knowledge.CodeCorrupt)
}
