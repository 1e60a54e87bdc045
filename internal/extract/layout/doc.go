// Package layout makes the blocks of a document from the lines on its pages, which
// the readers of PDFs and of pictures find: paragraphs, headings, lists, tables and
// captions in reading order, and the headers and footers that pages repeat.
//
// columns.go brings the lines of a page into reading order, furniture.go finds
// headers and footers, outline.go finds the headings that bookmarks name, table.go
// finds tables and block.go makes blocks. All lengths are PDF points; the origin is
// the top left corner of the displayed page.
package layout
