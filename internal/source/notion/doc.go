// Package notion follows Notion: the pages, the tables of databases and the files that are
// shared with an integration, or those below one page or database.
//
// It searches for what was edited since the run before and, some hours apart, looks at
// everything. The search of Notion may be late and incomplete, so it decides alone about
// nothing: a page that it does not find is asked for before it counts as gone, and pages are
// also found in the blocks of pages and among the rows of tables. The times of Notion are
// minutes, so a page that was edited just now is read once more later.
//
// An index of all pages, with the files in each, is the state of a run: it names the
// pages above a page, and saves reading the blocks of pages that have not changed.
//
// It speaks the REST protocol of Notion, and needs no client library.
package notion
