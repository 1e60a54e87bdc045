package ingestion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sqltable"
	"github.com/cairn-rag/cairn/internal/store"
)

const salesCSV = "region,amount\nNorth,1.50\nSouth,2.25\n"

// readCSV has the parser read every file as a CSV file.
func (f *fixture) readCSV() {
	f.Parser.Read = func(in extract.Input) (format.Result, error) {
		return format.Result{Layout: knowledge.Layout{MediaType: extract.TypeCSV, Blocks: table.Read(salesCSV, ',')}}, nil
	}
}

// withTables makes tables of a CSV file.
func withTables(nv *store.NewVersion) {
	nv.MediaType, nv.Enrichment.Tables = extract.TypeCSV, true
}

func TestTables(t *testing.T) {
	t.Parallel()
	t.Run("rows become tables, and repeating the step makes the same", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.readCSV()
		in := f.Upload("sales.csv", salesCSV, withTables)
		f.Prepare(in)
		read := func() (catalog sqltable.Catalog, file string) {
			f.Must(f.Blobs.GetJSON(f.Ctx, sqltable.CatalogKey(in.VersionRef), &catalog))
			data, err := f.Blobs.Get(f.Ctx, sqltable.FileKey(in.VersionRef))
			f.Must(err)
			return catalog, string(data)
		}
		catalog, file := read()
		if len(catalog.Tables) != 1 || catalog.Tables[0].Rows != 2 || !strings.HasPrefix(file, "SQLite format 3") {
			t.Fatalf("the catalog is %+v, the file begins %.16q", catalog, file)
		}
		// A worker dies after the tables are stored, and before the step has its result.
		folder, _, _ := strings.Cut(sqltable.FileKey(in.VersionRef), "tables/")
		for _, key := range f.Keys(folder) {
			if !strings.Contains(key, "/tables/tables.db") {
				f.Must(f.Blobs.Delete(f.Ctx, key))
			}
		}
		f.Publish(in)
		again, fileAgain := read()
		if diff := cmp.Diff(catalog, again); diff != "" || file != fileAgain {
			t.Error(diff)
		}
	})
	t.Run("a new version replaces them", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.readCSV()
		first := f.Upload("sales.csv", salesCSV, withTables)
		f.Publish(first)
		second := f.Upload("sales.csv", salesCSV+"West,3.00\n", withTables)
		f.Publish(second)
		for in, want := range map[ingestion.StepInput]bool{first: false, second: true} {
			if there, err := f.Blobs.Exists(f.Ctx, sqltable.FileKey(in.VersionRef)); err != nil || there != want {
				t.Errorf("version %d has tables: %t, %v", in.Version, there, err)
			}
		}
	})
	t.Run("without the setting, and of other files, there are none", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.readCSV()
		off := f.Upload("off.csv", salesCSV, func(nv *store.NewVersion) { nv.MediaType = extract.TypeCSV })
		f.Publish(off)
		text := f.Upload("text.md", "Words", func(nv *store.NewVersion) { nv.MediaType, nv.Enrichment.Tables = extract.TypeMarkdown, true })
		f.Publish(text)
		for _, in := range []ingestion.StepInput{off, text} {
			if there, err := f.Blobs.Exists(f.Ctx, sqltable.CatalogKey(in.VersionRef)); err != nil || there {
				t.Errorf("%s has tables: %v", in.Document, err)
			}
		}
	})
	t.Run("redacted data is in no table", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Parser.Read = func(extract.Input) (format.Result, error) {
			return format.Result{Layout: knowledge.Layout{MediaType: extract.TypeCSV, Blocks: table.Read("name,mail\nKim,kim@example.org\nLee,lee@example.org\n", ',')}}, nil
		}
		in := f.Upload("people.csv", salesCSV, withTables, func(nv *store.NewVersion) {
			nv.Enrichment.Privacy = knowledge.VersionPrivacy{Mode: knowledge.PrivacyRedact}
		})
		f.Publish(in)
		data, err := f.Blobs.Get(f.Ctx, sqltable.FileKey(in.VersionRef))
		f.Must(err)
		if strings.Contains(string(data), "example.org") || !strings.Contains(string(data), "Kim") {
			t.Error("the tables have the addresses, or not the names")
		}
	})
}

func TestTablesOfAnImport(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{true, false} {
		f := newImportFixture(t)
		f.readCSV()
		f.shelf.put("sales.csv", salesCSV)
		f.run(func(r *store.ImportRequest) { r.Enrichment.Tables = asked })
		d := f.documentOf("sales.csv")
		ref := knowledge.VersionRef{Workspace: "w", Project: d.Project, Document: d.ID, Version: d.PublishedVersion}
		there, err := f.Blobs.Exists(f.Ctx, sqltable.CatalogKey(ref))
		if err != nil || there != asked || d.Status != knowledge.StatusPublished {
			t.Errorf("asked %t: the document is %s and has tables: %t, %v", asked, d.Status, there, err)
		}
	}
}
