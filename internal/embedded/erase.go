package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/server/common/config"

	"github.com/cairn-rag/cairn/internal/erase"
)

// EraseDeleted returns once the bytes of rows that the server deleted before the call stand in
// neither of its files, nor in their logs. It looks at all pages.
func (s *Server) EraseDeleted(ctx context.Context) error {
	files := []*config.SQL{historyDatabase(s.config), visibilityDatabase(s.config)}
	for i, path := range []string{historyPath(s.config.Dir), visibilityPath(s.config.Dir)} {
		if err := eraseDeleted(ctx, files[i], path); err != nil {
			return fmt.Errorf("erase deleted bytes of %s: %w", path, err)
		}
	}
	return nil
}

// eraseDeleted uses the connection of the server, as shrink does.
func eraseDeleted(ctx context.Context, conf *config.SQL, path string) error {
	connections, err := pluginConnections(conf)
	if err != nil {
		return err
	}
	file := erase.New(connections.DB, path)
	defer file.Close()
	for {
		err := file.Erase(ctx)
		if !errors.Is(err, erase.ErrBusy) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond): // the log is being emptied by rest
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
