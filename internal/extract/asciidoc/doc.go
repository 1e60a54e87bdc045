// Package asciidoc reads AsciiDoc: headings, lists, tables, listings and paragraphs, without
// their marks. Nothing is included: the text of other files is left out.
package asciidoc
