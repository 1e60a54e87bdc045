// Package unioffice reads DOCX, PPTX and XLSX with unidoc/unioffice, in place of
// Cairn's own readers. unioffice opens no document without a licence key, and adds
// some 20 MB and a minute of compiling to the program, so that it is only in programs
// that are built with the tag unioffice. It returns the text, headings, tables and
// slides of a document, and none of its notes, pictures and embedded documents.
package unioffice
