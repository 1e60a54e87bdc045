package embedded

import (
	"context"
	"database/sql/driver"
	"time"

	"go.temporal.io/server/common/config"
)

// UIServer lets tests reach uiServer.
var UIServer = uiServer

// Guard lets tests reach guard.
var Guard = guard

// PreparingConnector opens connections that prepare each statement once with a driver. synced
// says that their commits are synced.
func PreparingConnector(d driver.Driver, dsn string, synced bool) driver.Connector {
	return preparingConnector{driver: preparingDriver{d}, dsn: dsn, synced: synced}
}

// GroupingConnector opens connections to one file that share commits. waiting returns how many
// of them wait for a turn to write.
func GroupingConnector(ctx context.Context, d driver.Driver, dsn string) (c driver.Connector, waiting func() int64, err error) {
	opens := preparingConnector{driver: preparingDriver{d}, dsn: dsn, synced: true}
	reads := opens
	reads.dsn += "&_pragma=query_only=1"
	grouping, err := newGroupingConnector(ctx, opens, reads)
	if err != nil {
		return nil, nil, err
	}
	grouping.file.writer.longest = time.Minute // a busy machine does not change what shares a commit
	return grouping, grouping.file.writer.waiting.Load, nil
}

// GroupSize is how many transactions share a commit at most.
const GroupSize = groupSize

// ErrGroupLost is the error of a transaction whose group was rolled back.
var ErrGroupLost = errGroupLost

// Connection is what SQLite's driver opens.
type Connection = connection

// MaxPrepared bounds the statements of a connection.
const MaxPrepared = maxPrepared

// ServerPrepares reports whether the server in a folder prepares its statements once.
func ServerPrepares(dir string) (bool, error) {
	for _, conf := range []*config.SQL{historyDatabase(Config{Dir: dir, Sync: SyncFull}), visibilityDatabase(Config{Dir: dir})} {
		shared, err := pluginConnections(conf)
		if err != nil {
			return false, err
		}
		if _, ok := shared.Driver().(preparingDriver); !ok {
			return false, nil
		}
	}
	return true, nil
}

// CreateFullVisibility creates a visibility database with all the indexes of the
// server's own schema, as versions without reduceIndexes left it.
func CreateFullVisibility(ctx context.Context, dir string) error {
	return createDatabase(ctx, visibilityPath(dir), nil)
}
