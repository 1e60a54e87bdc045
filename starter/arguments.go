package main

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// source is a path or an address, byte for byte as given: a file name need not
// be UTF-8.
type source string

// Decode implements kong.MapperValue.
func (s *source) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("path or address")
	*s = source(fmt.Sprint(token.Value))
	return err
}

// atMost limits the length of a list; 0 is no limit.
type atMost int

// Validate implements the interface that kong calls after parsing.
func (n atMost) Validate() error {
	if n < 0 {
		return errors.New("must be at least 0 (0 = all)")
	}
	return nil
}

// decodeText decodes all other strings. It refuses text that is not UTF-8,
// which would change when it is sent, and an empty argument, which is a
// mistake: an id or a question that a script did not fill in.
func decodeText(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	text := fmt.Sprint(token.Value)
	if !utf8.ValidString(text) {
		return errors.New("is not UTF-8")
	}
	if text == "" && ctx.Value.Flag == nil {
		return errors.New("must not be empty")
	}
	target.SetString(text)
	return nil
}
