package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// fault is a panic of a reader, or the end of a child that no limit explains. It is a
// defect of Cairn, whatever the document is.
type fault struct {
	Cause string `json:"cause"` // without text of the document
	Stack string `json:"stack"`
}

// Error implements error.
func (f *fault) Error() string { return "the reader failed: " + f.Cause }

// causeOf returns what is known of a panic. Only the runtime's own errors are repeated:
// another value may hold text of the document.
func causeOf(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("panic of type %T", value)
}

// faultOf returns the fault of a child that has ended, from its standard error: the
// fault that the Go runtime reports, if there is one.
func faultOf(stderr []byte, state fmt.Stringer) *fault {
	f := &fault{Cause: "the child ended: " + state.String()}
	for line := range bytes.Lines(stderr) {
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(text, "panic: runtime error: "), strings.HasPrefix(text, "fatal error: "), strings.HasPrefix(text, "runtime: "):
			f.Cause = text
		case strings.HasPrefix(text, "panic: "):
			f.Cause = "panic" // its value may hold text of the document
		}
	}
	if i := bytes.Index(stderr, []byte("\ngoroutine ")); i >= 0 {
		f.Stack = string(stderr[i+1:])
	}
	return f
}

// failed is the error of a document that a fault of ours kept from being read.
func failed(f *fault) error {
	return &knowledge.Error{
		Code: knowledge.CodeInternal, Final: true, Cause: f,
		Message: "Cairn failed to read this document because of a defect of its own; please report it with the id of the run, and try again after an update",
	}
}

// second reads a document with the second reader of its format, after a fault of the
// first. If that fails too, the error is the first reader's.
func (s *session) second(ctx context.Context, req request, first *fault) (format.Result, error) {
	if req.Drawing != nil || req.MakePages || req.Query != "" || req.Second {
		return format.Result{}, failed(first)
	}
	req.Second = true
	result, err := s.run(ctx, req)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) {
		return format.Result{}, failed(first)
	}
	return result, err
}

// report logs a fault and counts it.
func (p *Pool) report(ctx context.Context, in Input, f *fault) {
	kind := in.kind()
	p.cfg.Logger.ErrorContext(ctx, "a reader of documents failed; this is a defect of Cairn", "media_type", kind, "cause", f.Cause, "stack", f.Stack)
	p.cfg.OnFault(kind)
}

// kind returns the media type of the format of an input, "unknown" if it has none.
func (in Input) kind() string {
	head, _, err := in.head()
	if err != nil {
		return "unknown"
	}
	mediaType, err := Sniff(in.Name, in.MediaType, head)
	if err != nil {
		return "unknown"
	}
	f, ok := FormatOf(mediaType)
	if !ok {
		return "unknown"
	}
	return f.MediaType
}
