//go:build !unioffice

package unioffice

import (
	"errors"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

var errAbsent = errors.New("this build has no unioffice reader: build with -tags unioffice (go build -tags unioffice -o bin/cairn ./starter), or remove the key from the configuration")

// SetLicense returns an error: this build has no unioffice.
func SetLicense(string) error { return errAbsent }

// Read returns an error: this build has no unioffice.
func Read(format.Source, string) (format.Result, error) { return format.Result{}, errAbsent }
