package extract

import (
	"context"
	"errors"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

// Panicking is in the names of files whose reader panics after PanicOnNames: with the text
// of the file, with an error of the runtime, or in a goroutine of its own.
const (
	Panicking           = "make-the-reader-panic"
	PanickingInRuntime  = Panicking + "-in-the-runtime"
	PanickingConcurrent = Panicking + "-in-a-goroutine"
)

// PanicOnNames makes the readers of all formats panic for such names.
func PanicOnNames() {
	for i, f := range formats {
		if f.read == nil {
			continue
		}
		formats[i].read = func(ctx context.Context, p *parser, s format.Source) (format.Result, error) {
			switch {
			case strings.HasPrefix(s.Name, PanickingInRuntime):
				var none []int
				return format.Result{}, errors.New(s.Name[:none[len(s.Name)]])
			case strings.HasPrefix(s.Name, PanickingConcurrent):
				go panic(words(s))
				<-ctx.Done()
			case strings.HasPrefix(s.Name, Panicking):
				panic(words(s))
			}
			return f.read(ctx, p, s)
		}
	}
}

// words returns the begin of a file.
func words(s format.Source) string {
	data, err := s.Bytes()
	if err != nil {
		return err.Error()
	}
	return string(data[:min(len(data), 1000)])
}

// UsedAfterTheEnd notes the memory of a child of a budget once it has ended, and returns what the
// budget counts then.
func (b *Budget) UsedAfterTheEnd(bytes int64) int64 {
	c := &child{}
	b.came(c)
	b.gone(c)
	b.holds(c, bytes)
	b.keeps(c, bytes)
	return b.sum()
}
