package source_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/klauspost/compress/zstd"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	return packed(t, text, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

// packed returns a text that a compressor has written.
func packed(t *testing.T, text string, compressor func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := compressor(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecoded(t *testing.T) {
	t.Parallel()
	const text = "The seal kit is SK-9."
	br := packed(t, text, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	zlibbed := packed(t, text, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	raw := packed(t, text, func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, flate.BestSpeed); return f })
	zs := packed(t, text, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })
	for _, tc := range []struct {
		behaviour, encoding string
		body                []byte
		want                string
		encoded             bool
		code                knowledge.Code
	}{
		{"gzip", "gzip", zipped(t, text), text, true, ""},
		{"gzip among others", "aws-chunked, GZIP", zipped(t, text), text, true, ""},
		{"an old name", "x-gzip", zipped(t, text), text, true, ""},
		{"text that only says so", "gzip", []byte(text), text, true, ""},
		{"nothing that says so", "gzip", nil, "", true, ""},
		{"brotli", "br", br, text, true, ""},
		{"deflate", "deflate", zlibbed, text, true, ""},
		{"deflate without a frame", "deflate", raw, text, true, ""},
		{"zstandard", "zstd", zs, text, true, ""},
		{"text that only says that it is zstandard", "zstd", []byte(text), text, true, ""},
		{"one upon the other", "br, gzip", zipped(t, string(br)), text, true, ""},
		{"twice the same", "gzip, gzip", zipped(t, string(zipped(t, text))), text, true, ""},
		{"one that is said twice", "gzip, gzip", zipped(t, text), text, true, ""},
		{"brotli that breaks off", "br", br[:len(br)-4], "", true, knowledge.CodeCorrupt},
		{"no encoding", "", zipped(t, text), string(zipped(t, text)), false, ""},
		{"identity", "identity", []byte(text), text, false, ""},
		{"a body that breaks off", "gzip", zipped(t, text)[:30], "", true, knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			body, encoded := source.Decoded(io.NopCloser(bytes.NewReader(tc.body)), tc.encoding)
			got, err := io.ReadAll(body)
			if tc.code != "" {
				if !knowledge.IsCode(err, tc.code) {
					t.Errorf("error %v, want %s", err, tc.code)
				}
				return
			}
			if err != nil || string(got) != tc.want || encoded != tc.encoded {
				t.Errorf("%q, %v, %v", got, encoded, err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
