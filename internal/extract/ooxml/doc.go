// Package ooxml reads Word documents and PowerPoint presentations (DOCX, PPTX): text
// in reading order with its structure, tables, notes, comments, text boxes, charts
// and diagrams, pictures, embedded documents, and what the document says of itself.
//
// It fetches nothing: links, attached templates and linked pictures are addresses
// that it leaves alone. Pages are not in such a file; package extract gets them from
// LibreOffice.
package ooxml
