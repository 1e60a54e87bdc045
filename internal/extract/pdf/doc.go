// Package pdf reads PDF files with pdfium, compiled to WebAssembly: pages, lines
// with boxes in reading order, paragraphs, lists and headings.
//
// pdfium gives characters in the order in which the file draws them, with
// boxes in the user space of the page. glyph.go brings them to the page as it
// is displayed, line.go makes lines of them, number.go leaves out the numbers
// of pages and block.go makes blocks. All lengths are PDF points; the origin is
// the top left corner of the displayed page.
//
// It does not recognise text in pictures.
package pdf
