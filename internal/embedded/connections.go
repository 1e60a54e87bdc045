package embedded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"reflect"

	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	temporalsql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
)

// historyConnections is how many transactions on the histories begin at the same time. The
// transitions of workflows that wait for their commit hold one each.
const historyConnections = 64

// ownConnections makes the server prepare each statement on its databases once, and share
// the commits of its histories. Its plugin names its driver and offers no way to choose
// another. But it opens a file once, for all parts of the server, and never closes it, so the
// connections can be exchanged before the server starts.
func ownConnections(ctx context.Context, c Config) error {
	history := historyDatabase(c)
	err := exchangeConnections(history, historyConnections, func(d preparingDriver) (driver.Connector, error) {
		return newGroupingConnector(ctx, d.connector(history), d.connector(readingHistories(history)))
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", history.DatabaseName, err)
	}
	visibility := visibilityDatabase(c)
	err = exchangeConnections(visibility, visibility.MaxConns, func(d preparingDriver) (driver.Connector, error) {
		return d.connector(visibility), nil
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", visibility.DatabaseName, err)
	}
	return nil
}

// connector returns a connector to a database.
func (d preparingDriver) connector(conf *config.SQL) preparingConnector {
	return preparingConnector{driver: d, dsn: pluginDSN(conf), synced: conf.ConnectAttributes["synchronous"] == synchronousFull}
}

func exchangeConnections(conf *config.SQL, atATime int, connector func(preparingDriver) (driver.Connector, error)) error {
	shared, err := pluginConnections(conf)
	if err != nil {
		return err
	}
	if _, done := shared.Driver().(preparingDriver); done {
		return nil // by an earlier server of this process
	}
	opened := shared.DB
	exchanged, err := connector(preparingDriver{opened.Driver()})
	if err != nil {
		return err
	}
	shared.DB = sql.OpenDB(exchanged)
	shared.SetMaxOpenConns(atATime)
	shared.SetMaxIdleConns(atATime)
	return opened.Close()
}

// openPlugin opens a database through the server's plugin, which keeps its connections when
// it is closed.
func openPlugin(conf *config.SQL) (sqlplugin.DB, error) {
	return temporalsql.NewSQLDB(sqlplugin.DbKindMain, conf, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
}

// pluginConnections returns the connections to a file that the plugin keeps in a field of
// its own for all parts of the server.
func pluginConnections(conf *config.SQL) (*sqlx.DB, error) {
	db, err := openPlugin(conf)
	if err != nil {
		return nil, err
	}
	field := reflect.Indirect(reflect.ValueOf(db)).FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sqlx.DB]() {
		return nil, fmt.Errorf("this version of the server's SQLite plugin (%T) keeps its connections elsewhere", db)
	}
	return (*sqlx.DB)(field.UnsafePointer()), nil
}

// pluginDSN returns the address of a database as the plugin writes it.
func pluginDSN(conf *config.SQL) string {
	values := url.Values{"_time_format": {"sqlite"}}
	for name, value := range conf.ConnectAttributes {
		if name == "mode" {
			values.Set(name, value)
		} else {
			values.Add("_pragma", name+"="+value)
		}
	}
	return "file:" + conf.DatabaseName + "?" + values.Encode()
}
