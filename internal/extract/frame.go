package extract

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Parent and child exchange frames: a length of four bytes, big endian, then
// that many bytes of JSON. Every request gets one response, in order. Before a
// response the child may send notes: one before it starts pdfium and one after, and
// one for each part of a document that takes long. A child with a cache starts pdfium
// when the parent has sent a request to proceed, which has no response.

const (
	maxRequest  = 1 << 20
	maxResponse = 512 << 20
)

// request is a frame of the parent. The first one carries settings, each later
// one an input, and the page to draw if it is not to be extracted.
type request struct {
	Settings  *settings `json:"settings,omitempty"`
	Input     Input     `json:"input,omitzero"`
	Drawing   *Drawing  `json:"drawing,omitempty"`
	MakePages bool      `json:"make_pages,omitempty"` // make a PDF of it, in place of extracting it
	Query     string    `json:"query,omitempty"`      // run it on the tables of the input, in place of extracting it
	Second    bool      `json:"second,omitempty"`     // with the second reader of the format, after a fault of the first
	Warm      bool      `json:"warm,omitempty"`       // start pdfium, which fills the cache, and nothing else
	Proceed   bool      `json:"proceed,omitempty"`    // the cache is filled: start pdfium
}

// settings are the limits that a child sets on itself before the first input.
type settings struct {
	Tools      format.Tools `json:"tools,omitzero"`
	CacheDir   string       `json:"cache_dir,omitempty"`
	Warms      bool         `json:"warms,omitempty"`     // the child may write to the cache
	Restrict   bool         `json:"restrict,omitempty"`  // the child restricts itself to its folders with Landlock
	Scratch    string       `json:"scratch,omitempty"`   // folder that the parent removes with the child
	Unioffice  string       `json:"unioffice,omitempty"` // licence key
	Memory     int64        `json:"memory"`              // bytes; a soft limit for Go's memory
	CPUSeconds uint64       `json:"cpu_seconds"`         // over the whole life of the child
}

// response is a frame of the child: a result, an error, a note, or nothing of
// these to confirm settings.
type response struct {
	Result *format.Result `json:"result,omitempty"`
	Error  *wireError     `json:"error,omitempty"`
	Fault  *fault         `json:"fault,omitempty"` // of the reader
	Last   bool           `json:"last,omitempty"`  // the child must be replaced
	Note   note           `json:"note,omitempty"`  // set in a note, which is not a response
	Read   int            `json:"read,omitempty"`  // with notePages: pages
	All    int            `json:"all,omitempty"`   // with notePages: pages
}

// note tells the parent when the child starts pdfium, because that time and
// memory do not count against the document, when the time limit starts again, and how
// many pages were read.
type note string

const (
	noteStarting note = "starting" // the child compiles pdfium or loads it from the cache
	noteStarted  note = "started"
	noteWorking  note = "working" // the next part of the document has the time of a document
	notePages    note = "pages"   // how many pages of the document were read
)

// wireError carries a knowledge.Error between the processes. Cause is only
// logged.
type wireError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
	Cause   string         `json:"cause,omitempty"`
}

func toWire(err error) *wireError {
	e := knowledge.AsError(err)
	w := &wireError{Code: e.Code, Message: e.Message}
	if e.Cause != nil {
		w.Cause = e.Cause.Error()
	}
	return w
}

func (w *wireError) toError() error {
	e := knowledge.Errorf(w.Code, "%s", w.Message)
	if w.Cause != "" {
		e.Cause = fmt.Errorf("parser: %s", w.Cause)
	}
	return e
}

func writeFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	frame := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(frame, uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// readFrame reads one frame into v. It returns io.EOF if the stream ends between
// frames.
func readFrame(r io.Reader, limit uint32, v any) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > limit {
		return fmt.Errorf("frame of %d bytes is above the limit of %d", n, limit)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("read frame: %w", io.ErrUnexpectedEOF)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode frame: %w", err)
	}
	return nil
}
