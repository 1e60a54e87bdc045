// Package pdf reads PDF files with pdfium, compiled to WebAssembly. It returns
// pages and blocks (paragraphs, lists, tables and headings) with the box of
// every line, in reading order.
//
// pdfium returns characters in the order in which the file draws them, with
// boxes in the user space of the page. characters.go reads them, glyph.go maps
// words to the displayed page, line.go makes lines of them, number.go removes
// page numbers, table.go finds tables and block.go makes blocks. All lengths are PDF points; the
// origin is the top left corner of the displayed page.
//
// The package does not recognise text in pictures.
package pdf
