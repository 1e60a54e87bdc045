package edge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestErrorsOfBodies(t *testing.T) {
	t.Parallel()
	busy := &knowledge.Error{Code: knowledge.CodeUnavailable, Message: "too many large uploads"}
	for name, c := range map[string]struct {
		err  error
		want knowledge.Code
	}{
		"no room came free in time": {busy.WithCause(context.DeadlineExceeded), knowledge.CodeUnavailable},
		"the client is too slow":    {fmt.Errorf("read: %w", os.ErrDeadlineExceeded), knowledge.CodeMalformed},
		"the client stops":          {io.ErrUnexpectedEOF, knowledge.CodeMalformed},
		"above the limit":           {&http.MaxBytesError{Limit: 1}, knowledge.CodeTooLarge},
		"no chunk":                  {errors.New("malformed chunked encoding"), knowledge.CodeMalformed},
	} {
		if got := knowledge.AsError(edge.BodyError(c.err)); got.Code != c.want {
			t.Errorf("%s: %s, want %s", name, got.Code, c.want)
		}
	}
}
