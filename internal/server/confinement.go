package server

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
)

// The messages about programs that read documents and are not in namespaces.
const (
	isUnconfined = "documents are read by programs that are not confined, because sandbox.helpers is none: a document may show any file that this server can read, files of other workspaces included"
	isRefused    = "no program that reads documents can be confined, so LibreOffice, tesseract, poppler and ffmpeg are not started, and documents that need one end as needs_component; " +
		"apt-get install bubblewrap and allow it to make namespaces (docs/deploy.md), or set sandbox.helpers to none if all documents may see all files of this server"
)

// confine finds out how the programs that read documents are confined.
func (p *platform) confine(ctx context.Context) error {
	if p.cfg.Sandbox.Helpers == config.HelpersUnconfined {
		p.confinement = extract.Unconfined
		p.log.WarnContext(ctx, isUnconfined)
		return nil
	}
	refusal := confine.Available(ctx)
	if refusal == nil {
		return nil
	}
	p.confinement = extract.WithoutTools
	if len(format.FindTools().Paths()) == 0 {
		p.log.WarnContext(ctx, isRefused, "error", refusal) // there is none that could start
		return nil
	}
	p.refusal = refusal
	p.log.ErrorContext(ctx, isRefused, "error", refusal)
	return nil
}

// confinementNotices returns a notice if programs that read documents are not confined.
func (p *platform) confinementNotices(context.Context) []Notice {
	switch {
	case p.refusal != nil:
		return []Notice{{"Sandbox", fmt.Sprintf("%s: %v", isRefused, p.refusal)}}
	case p.confinement == extract.Unconfined:
		return []Notice{{"Sandbox", isUnconfined}}
	}
	return nil
}
