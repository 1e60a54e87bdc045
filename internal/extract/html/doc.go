// Package html reads HTML. It detects the character set in the order that browsers
// use, drops scripts and styles, and converts the rest through Markdown.
//
// Of a page of a web site it tells the main text from the furniture: navigation,
// notices, advertisements and footers. It cuts the page into units, such as
// paragraphs and cells (unit.go), asks go-trafilatura, go-readability and
// go-domdistiller which of them they would keep (witness.go), and weighs their
// answers with the place and the form of each unit (evidence.go). None of the three
// keeps tables, code and headings well enough to be used for more.
package html
