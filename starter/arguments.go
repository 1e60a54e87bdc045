package main

import (
	"fmt"

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
