package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// The databases of testdata were made by commit da499b6, whose tables have version 43.

func TestUpgradeOfSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cairn.db")
	dump, err := os.ReadFile("testdata/version43_sqlite.sql")
	must(t, err)
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	_, err = db.ExecContext(t.Context(), string(dump))
	must(t, err)
	checkUpgrade(t, "sqlite://"+path)
	_, made := openAt(t)
	const shape = `SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || COALESCE(c.dflt_value, '') || ' ' || c.pk
		FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table'
		UNION SELECT m.name || ' refers to ' || f."table" || '.' || f."to" || ' ' || f.on_delete FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f
		UNION SELECT sql FROM sqlite_master WHERE type = 'index' AND sql <> '' ORDER BY 1`
	if diff := cmp.Diff(columns(t, "sqlite", made, shape), columns(t, "sqlite", path, shape)); diff != "" {
		t.Errorf("the upgraded tables differ from new ones (-new +upgraded):\n%s", diff)
	}
	_, err = db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id > 42")
	must(t, err)
	refusesOld(t, "sqlite://"+path)
}

func TestUpgradeOfPostgres(t *testing.T) {
	t.Parallel()
	address := postgrestest.Empty(t)
	dump, err := os.ReadFile("testdata/version43_postgres.sql")
	must(t, err)
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	_, err = conn.PgConn().Exec(t.Context(), string(dump)).ReadAll()
	must(t, err)
	must(t, conn.Close(t.Context()))
	checkUpgrade(t, address)
	const shape = `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '') || ' ' || COALESCE(collation_name, '')
		FROM information_schema.columns WHERE table_schema = 'public'
		UNION SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`
	if diff := cmp.Diff(columns(t, "pgx", postgrestest.Migrated(t), shape), columns(t, "pgx", address, shape)); diff != "" {
		t.Errorf("the upgraded tables differ from new ones (-new +upgraded):\n%s", diff)
	}
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	_, err = db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id > 42")
	must(t, err)
	refusesOld(t, address)
}

// checkUpgrade migrates a database of testdata, and reads and changes its rows.
func checkUpgrade(t *testing.T, address string) {
	t.Helper()
	ctx := t.Context()
	for range 2 { // the second time there is nothing to do
		must(t, store.Migrate(ctx, address))
	}
	s, err := store.Open(ctx, store.Config{URL: address, Generation: "model/3"})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	key, err := s.KeyByHash(ctx, "hash")
	must(t, err)
	p := knowledge.NewPrincipal(knowledge.Claims{Workspace: key.Workspace, Scopes: key.Scopes, KeyID: key.ID})
	project, err := s.Project(ctx, p, "Handbook")
	must(t, err)
	if key.ID != "key" || project.ID != "handbook" || project.Generations.Serving != "model/3" {
		t.Errorf("key %+v, project %+v", key, project)
	}
	d, err := s.Document(ctx, p, "published")
	must(t, err)
	if d.Name != "published.md" || d.Status != knowledge.StatusPublished || d.PublishedVersion != 1 || !slices.Equal(d.Tags, []string{"travel"}) || d.Metadata["team"] != "sales" {
		t.Errorf("document %+v", d)
	}
	views, err := s.VisibleChunks(ctx, p, nil, []knowledge.Hit{
		{ChunkID: "chunk-0", DocumentID: d.ID, Version: 1}, {ChunkID: "chunk-1", DocumentID: d.ID, Version: 1},
	})
	must(t, err)
	if len(views) != 2 || views[1].Text != "It's the ticket that is kept." || !slices.Equal(views[1].HeadingPath, []string{"Travel", "Tickets"}) {
		t.Errorf("chunks %+v", views)
	}
	messages, _, err := s.Messages(ctx, p, "talk", store.Page{})
	must(t, err)
	if len(messages) != 1 || messages[0].Text != "Who pays for trains?" || !slices.Equal(messages[0].ChunkIDs, []string{"chunk-0"}) {
		t.Errorf("messages %+v", messages)
	}
	for id, want := range map[string]knowledge.RunStatus{"run-1": knowledge.RunCompleted, "run-2": knowledge.RunRunning} {
		if run, err := s.RunForSystem(ctx, "acme", id); err != nil || run.Status != want {
			t.Errorf("run %+v, %v", run, err)
		}
	}
	opened, err := s.Setting(ctx, "opened", func() string { return "twice" })
	if err != nil || opened != "once" {
		t.Errorf("setting %q, %v", opened, err)
	}
	ref := knowledge.VersionRef{Workspace: "acme", Project: "handbook", Document: "pending", Version: 1}
	published, err := s.PublishVersion(ctx, store.Publication{Ref: ref, Of: project.Generations, Chunks: []knowledge.Chunk{{ID: "chunk-2", Text: "A later text."}}})
	if err != nil || !published.Done {
		t.Errorf("published the pending version: %+v, %v", published, err)
	}
}

func refusesOld(t *testing.T, address string) {
	t.Helper()
	for what, err := range map[string]error{
		"migrate": store.Migrate(t.Context(), address),
		"open": func() error {
			_, err := store.Open(t.Context(), store.Config{URL: address})
			return err
		}(),
		"join": func() error {
			_, err := store.Open(t.Context(), store.Config{URL: address, Joined: true})
			return err
		}(),
	} {
		if !knowledge.IsCode(err, knowledge.CodeConflict) || !strings.Contains(err.Error(), "run cairn migrate of commit da499b6 first") {
			t.Errorf("%s tables of version 42: %v", what, err)
		}
	}
}
