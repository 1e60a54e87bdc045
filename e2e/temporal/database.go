package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/schema"
)

// database is one of the server's two databases.
type database struct{ address, user, name string }

// config returns how the server connects to the database.
func (d database) config(connections int) *config.SQL {
	return &config.SQL{
		PluginName: postgresql.PluginNamePGX, DatabaseName: d.name, User: d.user,
		ConnectAddr: d.address, ConnectProtocol: "tcp", MaxConns: connections, MaxIdleConns: connections,
	}
}

// folders has the folder of the schema of each database in the server's module.
var folders = map[string]string{"temporal": "temporal", "temporal_visibility": "visibility"}

// create creates the database and its tables, unless it has them. It does not migrate
// tables of another version of the server.
func (d database) create() (err error) {
	server, err := database{d.address, d.user, "postgres"}.open()
	if err != nil {
		return err
	}
	if err := errors.Join(server.CreateDatabase(d.name), server.Close()); err != nil {
		return err
	}
	db, err := d.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.CreateSchemaVersionTables(); err != nil {
		return err
	}
	if version, err := db.ReadSchemaVersion(d.name); err == nil && version != "" {
		return nil
	}
	return d.createTables(db)
}

func (d database) open() (sqlplugin.AdminDB, error) {
	kind := sqlplugin.DbKindMain
	if d.name == "temporal_visibility" {
		kind = sqlplugin.DbKindVisibility
	}
	return sql.NewSQLAdminDB(kind, d.config(1), resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
}

func (d database) createTables(db sqlplugin.AdminDB) error {
	text, err := fs.ReadFile(schema.Assets(), path.Join("postgresql/v12", folders[d.name], "schema.sql"))
	if err != nil {
		return err
	}
	statements, err := persistence.LoadAndSplitQueryFromReaders([]io.Reader{bytes.NewReader(text)})
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if err := db.Exec(statement); err != nil {
			return fmt.Errorf("%w in %q", err, statement)
		}
	}
	return db.UpdateSchemaVersion(d.name, db.ExpectedVersion(), db.ExpectedVersion())
}
