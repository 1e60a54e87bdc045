//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// user has no meaning where no job runs.
type user int

func userOf(int) user { return 0 }

func installed(Language) error {
	return knowledge.Errorf(knowledge.CodeNeedsComponent, "code runs on Linux only, on amd64 or arm64")
}

// Has reports whether the programs of a language are installed.
func Has(Language) bool { return false }

func start(context.Context, Limits, Job, folder, user) (Result, disk, error) {
	return Result{}, disk{}, installed(Python)
}
