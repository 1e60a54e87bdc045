package source_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
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
