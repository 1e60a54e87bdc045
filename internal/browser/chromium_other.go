//go:build !linux || !(amd64 || arm64)

package browser

import (
	"context"
	"errors"
	"net/url"
)

func installed() error { return errors.New("they are run on Linux only, on amd64 or arm64") }

// Launch is for Linux on amd64 or arm64 only.
func Launch([]string) error { return installed() }

// chromium has no meaning where none runs.
type chromium struct {
	cfg          Config
	ready, ended chan struct{}
	failure      error
}

func (c *chromium) hasEnded() bool { return true }

func (c *chromium) start(context.Context) error { return Available() }

func (c *chromium) stop() {}

func (c *chromium) render(context.Context, int, string, func(*url.URL) error) (Document, error) {
	return Document{}, c.failure
}
