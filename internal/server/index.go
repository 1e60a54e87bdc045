package server

import (
	"context"
	"log/slog"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/index/milvus"
)

// openIndex opens the index that the configuration names.
func openIndex(ctx context.Context, cfg config.Vector, log *slog.Logger) (index.Index, error) {
	if !cfg.Milvus() {
		return embedded.Open(ctx, embedded.Config{Path: urlPath(cfg.URL), Logger: log})
	}
	m, err := milvus.ParseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	m.Token, m.Logger = cfg.Token, log
	return milvus.Open(ctx, m)
}
