package blobtest

import (
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
)

// WantLink checks that the signed address of a blob with the given bytes serves them, and
// ranges of them. Some stand-ins ignore the headers that an address asks for, so WantLink
// returns the address and the headers that came.
func WantLink(t *testing.T, s *blob.Store, key, text string) (*url.URL, http.Header) {
	t.Helper()
	address, err := s.Link(t.Context(), key, blob.Download{MediaType: "text/plain", Disposition: `attachment; filename="a b.txt"`, Valid: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	status, header, body := fetch(t, address, "")
	if body != text || status != http.StatusOK {
		t.Errorf("got status %d, %q", status, body)
	}
	if status, _, body := fetch(t, address, "bytes=2-4"); body != text[2:5] || status != http.StatusPartialContent {
		t.Errorf("of a range: status %d, %q", status, body)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed, header
}

func fetch(t *testing.T, address, byteRange string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if byteRange != "" {
		request.Header.Set("Range", byteRange)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(data)
}
