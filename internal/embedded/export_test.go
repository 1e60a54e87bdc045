package embedded

import (
	"context"
	"database/sql/driver"

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
