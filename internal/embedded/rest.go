package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.temporal.io/server/common/config"
)

const (
	// rest is the time without writes after which the files are made smaller.
	rest = 5 * time.Second
	// smallLog is the size in bytes of a write-ahead log that stays as it is. An idle
	// server writes less in an hour.
	smallLog = 1 << 20
	// vacuumed is the number of pages that one statement gives back to the file system.
	// It takes milliseconds, because the server's own statements wait.
	vacuumed = 128
)

// keepSmall makes each file and its log smaller when the server has written to it and
// then rested. It returns when ctx ends.
func (s *Server) keepSmall(ctx context.Context) {
	files := []*config.SQL{historyDatabase(s.config), visibilityDatabase(s.config)}
	paths := []string{historyPath(s.config.Dir), visibilityPath(s.config.Dir)}
	tick := time.NewTicker(rest)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for i, path := range paths {
			if !resting(path) {
				continue
			}
			if err := shrink(ctx, files[i], path); err != nil && ctx.Err() == nil { // the next rest tries again
				s.config.Logger.Debug("a file of the Temporal server was not made smaller", slog.String("file", path), slog.Any("error", err))
			}
		}
	}
}

// resting reports whether a database has a large log to which nothing was written lately.
func resting(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > smallLog && time.Since(info.ModTime()) >= rest
}

// shrink returns the free pages of a database to the file system and empties its log. It
// uses the connection of the server, which would have to repeat a transaction beside which
// another connection writes.
func shrink(ctx context.Context, conf *config.SQL, path string) error {
	connections, err := pluginConnections(conf)
	if err != nil {
		return err
	}
	var free int
	if err := connections.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
		return err
	}
	statement := fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumed)
	for ; free > 0 && ctx.Err() == nil; free -= vacuumed {
		if _, err := connections.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return emptyLog(ctx, path)
}
