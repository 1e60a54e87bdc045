package embedded

import (
	"database/sql"
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

// prepareOnce makes the server prepare each statement on its databases once. Its plugin
// names its driver and offers no way to choose another. But it opens a file once, for all
// parts of the server, and never closes it, so the connections can be exchanged before the
// server starts.
func prepareOnce(c Config) error {
	for _, conf := range []*config.SQL{historyDatabase(c), visibilityDatabase(c)} {
		if err := exchangeConnections(conf); err != nil {
			return fmt.Errorf("open %s: %w", conf.DatabaseName, err)
		}
	}
	return nil
}

func exchangeConnections(conf *config.SQL) error {
	shared, err := pluginConnections(conf)
	if err != nil {
		return err
	}
	if _, done := shared.Driver().(preparingDriver); done {
		return nil // by an earlier server of this process
	}
	opened := shared.DB
	shared.DB = sql.OpenDB(preparingConnector{
		driver: preparingDriver{opened.Driver()}, dsn: pluginDSN(conf), synced: conf.ConnectAttributes["synchronous"] == synchronousFull,
	})
	shared.SetMaxOpenConns(conf.MaxConns)
	shared.SetMaxIdleConns(conf.MaxIdleConns)
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
