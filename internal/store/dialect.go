package store

import (
	"encoding/hex"
	"strings"

	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// dialect writes strings byte for byte. The one it is made of leaves out NUL
// and replaces what is not UTF-8, which would let two different names meet.
type dialect struct{ *sqlitedialect.Dialect }

func newDialect() dialect { return dialect{sqlitedialect.New()} }

// AppendString appends s as an SQL string.
func (dialect) AppendString(b []byte, s string) []byte {
	if strings.IndexByte(s, 0) >= 0 {
		b = append(b, "CAST(X'"...)
		b = hex.AppendEncode(b, []byte(s))
		return append(b, "' AS TEXT)"...)
	}
	b = append(b, '\'')
	for {
		i := strings.IndexByte(s, '\'')
		if i < 0 {
			break
		}
		b = append(append(b, s[:i]...), "''"...)
		s = s[i+1:]
	}
	return append(append(b, s...), '\'')
}
