package manual_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"testing"

	"github.com/cairn-rag/cairn/samples"
	"github.com/cairn-rag/cairn/samples/manual"
)

func TestPDF(t *testing.T) {
	t.Parallel()
	file := manual.PDF()

	t.Run("the_shipped_file_is_the_generator's_output", func(t *testing.T) {
		t.Parallel()
		documents, err := samples.Documents()
		if err != nil {
			t.Fatal(err)
		}
		shipped, err := fs.ReadFile(documents, "hx4-service-manual.pdf")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(shipped, file) {
			t.Error("documents/hx4-service-manual.pdf is out of date: run go generate ./samples")
		}
	})

	t.Run("each_cross_reference_points_at_its_object", func(t *testing.T) {
		t.Parallel()
		start := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(file)
		if start == nil {
			t.Fatal("no startxref at the end")
		}
		at, err := strconv.Atoi(string(start[1]))
		if err != nil || !bytes.HasPrefix(file[at:], []byte("xref\n")) {
			t.Fatalf("startxref %s does not point at the table", start[1])
		}
		entries := regexp.MustCompile(`(\d{10}) 00000 n \n`).FindAllSubmatch(file[at:], -1)
		if len(entries) < 10 {
			t.Fatalf("%d objects, want the objects of several pages", len(entries))
		}
		for i, entry := range entries {
			offset, err := strconv.Atoi(string(entry[1]))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d 0 obj\n", i+1); !bytes.HasPrefix(file[offset:], []byte(want)) {
				t.Errorf("entry %d points at %q", i+1, file[offset:offset+12])
			}
		}
	})

	t.Run("each_stream_has_its_stated_length", func(t *testing.T) {
		t.Parallel()
		streams := regexp.MustCompile(`(?s)<< /Length (\d+) >>\nstream\n(.*?)endstream`).FindAllSubmatch(file, -1)
		if len(streams) < 3 {
			t.Fatalf("%d pages, want several", len(streams))
		}
		for i, s := range streams {
			if want, err := strconv.Atoi(string(s[1])); err != nil || want != len(s[2]) {
				t.Errorf("page %d says %s bytes and has %d", i+1, s[1], len(s[2]))
			}
		}
	})
}
