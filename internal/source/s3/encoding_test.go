package s3_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/cairn-rag/cairn/internal/source"
)

func TestAnObjectThatIsStoredWithGzip(t *testing.T) {
	t.Parallel()
	endpoint, _ := recorder(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "The seal kit is SK-9.")
		_ = z.Close()
	})
	body, object, err := connect(t, "s3://bucket/", endpoint).Open(t.Context(), source.Object{Key: "page.txt"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err != nil || string(data) != "The seal kit is SK-9." || object.Bytes != -1 || object.MediaType != "text/plain" {
		t.Errorf("%q, %+v, %v", data, object, err)
	}
}
