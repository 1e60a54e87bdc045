// Package htmltable makes blocks of the tables of HTML: in web pages, and in Markdown.
// It keeps which cells cover others, so that each column and each row has its name.
package htmltable
