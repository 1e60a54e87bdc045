//go:build !cluster

package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/internal/namespace"
	"github.com/cairn-rag/cairn/workflows"
)

// RequireTemporal returns an error if this build has no Temporal server.
func RequireTemporal() error { return nil }

// startTemporal starts the Temporal server in the process.
func (p *platform) startTemporal(ctx context.Context) error {
	server, err := embedded.Start(ctx, embedded.Config{
		Dir: filepath.Join(p.cfg.Data, "temporal"), Listen: p.cfg.Temporal.Listen, UIListen: p.cfg.Temporal.UIListen,
		SearchAttributes: searchAttributes(), ListedBy: []string{workflows.AttributeDocument}, Sync: embedded.Sync(p.cfg.Temporal.Sync), Codec: p.codec(), Logger: p.log,
	})
	if err != nil {
		return fmt.Errorf("start the Temporal server: %w", err)
	}
	p.onClose(func() error { server.Stop(); return nil })
	p.ends.Temporal, p.ends.UI = server.Address(), server.UIURL()
	p.ends.Listeners = append(server.Listeners(), addresses(p.listener.Addr().String(), p.offline)...)
	p.identity = "cairn/" + rand.Text() // no other start's, also where process numbers repeat
	c, err := server.Dial(ctx, slog.New(atLeast{p.log.Handler(), slog.LevelWarn}), func(o *client.Options) { o.Identity = p.identity }, namespace.Yield(workflows.QueueQuery), namespace.Encrypt(p.ring))
	if err != nil {
		return err
	}
	p.useTemporal(c)
	p.workflow.ErasesFiles(server.EraseDeleted)
	return nil
}
