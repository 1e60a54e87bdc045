package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Bytes is a size, written as a number or as in 20MB, 1GB, 512KiB.
type Bytes int64

// units are the sizes that a number can be followed by, the largest first.
var units = []struct {
	name string
	size int64
}{
	{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6},
	{"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1},
}

// UnmarshalText reads a size.
func (b *Bytes) UnmarshalText(text []byte) error {
	number, size := strings.TrimSpace(string(text)), int64(1)
	for _, unit := range units {
		if head, ok := cutSuffixFold(number, unit.name); ok {
			number, size = strings.TrimSpace(head), unit.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/size {
		return fmt.Errorf("%q is not a size such as 20MB", text)
	}
	*b = Bytes(n * size)
	return nil
}

// String writes the size with the largest unit that divides it.
func (b Bytes) String() string {
	if b != 0 {
		for _, unit := range units {
			if unit.size > 1 && int64(b)%unit.size == 0 {
				return strconv.FormatInt(int64(b)/unit.size, 10) + unit.name
			}
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Instance returns the limits of requests and documents.
func (l Limits) Instance() knowledge.InstanceLimits {
	return knowledge.InstanceLimits{
		FileBytes: int64(l.FileBytes), TextBytes: int64(l.TextBytes), RequestBytes: int64(l.RequestBytes),
		UserQueriesPerMinute: l.UserQueriesPerMinute, KeyQueriesPerMinute: l.KeyQueriesPerMinute,
	}
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if len(s) < len(suffix) || !strings.EqualFold(s[len(s)-len(suffix):], suffix) {
		return s, false
	}
	return s[:len(s)-len(suffix)], true
}
