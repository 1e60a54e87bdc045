//go:build !linux

package confine

import (
	"context"
	"errors"
)

// Available returns an error: only Linux has namespaces.
func Available(context.Context) error { return errors.New("only Linux can confine programs") }
