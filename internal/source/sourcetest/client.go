package sourcetest

import (
	"io"
	"net/http"
	"net/netip"

	"github.com/cairn-rag/cairn/internal/safedial"
)

// Client returns an HTTP client that reaches servers on this machine, and no
// other address that is not public.
func Client() *http.Client {
	return safedial.New(safedial.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}).Client(0)
}

func readAll(r io.Reader) (string, error) {
	body, err := io.ReadAll(r)
	return string(body), err
}
