package store

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// PostgreSQL takes no text that is not UTF-8 and none with a NUL, so SQLite is given
// none either. In place of such a text stands NULL: it equals nothing, so nobody is
// found by it, and no column takes it, so a write of it is CodeInvalid.

// storable reports whether a database takes a text.
func storable(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

// storableArguments returns the arguments of a statement, with nil in place of texts
// that are not storable.
func storableArguments(args []any) []any {
	cloned := false
	for i, arg := range args {
		text, is := arg.(string)
		if !is && reflect.ValueOf(arg).Kind() == reflect.String {
			text = reflect.ValueOf(arg).String()
		}
		if storable(text) {
			continue
		}
		if !cloned {
			args, cloned = slices.Clone(args), true
		}
		args[i] = nil
	}
	return args
}

// appendText appends a text as an SQL literal. Both databases end a literal only at a
// single quote that stands alone.
func appendText(b []byte, s string) []byte {
	if !storable(s) {
		return append(b, "NULL"...)
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

// sqliteDialect is the SQLite of package bun with the texts of appendText: bun drops
// a NUL and replaces what is not UTF-8, which would let two different names meet.
type sqliteDialect struct{ *sqlitedialect.Dialect }

// AppendString appends s as an SQL string.
func (sqliteDialect) AppendString(b []byte, s string) []byte { return appendText(b, s) }

// postgresDialect is the PostgreSQL of package bun with the texts of appendText.
// Every connection has standard_conforming_strings on, so that a backslash is a
// character like any other.
type postgresDialect struct{ *pgdialect.Dialect }

// AppendString appends s as an SQL string.
func (postgresDialect) AppendString(b []byte, s string) []byte { return appendText(b, s) }
