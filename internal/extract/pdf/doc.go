// Package pdf reads PDF files with pdfium, compiled to WebAssembly. It returns the
// pages and the lines on them with their boxes; package layout makes the blocks.
//
// pdfium returns characters in the order in which the file draws them, with boxes in
// the user space of the page. characters.go reads them, glyph.go maps words to the
// displayed page, and line.go makes lines of them. tags.go and outline.go read what
// the file says of its structure, and annotation.go reads forms and comments.
// object.go finds the images of a page, scan.go recognises the text of a page that is
// a picture, and figure.go keeps the pictures of figures. All lengths are PDF points;
// the origin is the top left corner of the displayed page.
package pdf
