package main

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// source is a path or an address byte for byte as it was given, since a file's
// name need not be UTF-8.
type source string

// Decode implements kong.MapperValue.
func (s *source) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("path or address")
	*s = source(fmt.Sprint(token.Value))
	return err
}

// atMost is how much of a list is wanted; 0 is all of it.
type atMost int

// Validate is asked by kong.
func (n atMost) Validate() error {
	if n < 0 {
		return errors.New("must not be less than 0, which is all")
	}
	return nil
}

// decodeText takes any other string. What is not UTF-8 would become another text
// on its way, and an argument without text is a mistake: an id or a question that
// a script did not fill in.
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
