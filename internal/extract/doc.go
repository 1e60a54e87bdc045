// Package extract turns the bytes of a file into a knowledge.Layout: blocks of
// text in reading order, with pages and the box of every line where the format
// has pages.
//
// Sniff finds the media type from the content and refuses types that are not
// supported. Parsing runs in child processes: Serve is the loop of such a child
// (cairn parse). Pool keeps a few children, sends each one document at a time,
// and enforces limits of time, memory and processor time. A hostile file can
// therefore end a child, but not the process that called the pool.
//
// Each family of formats has a subpackage (text, markdown, html, table, pdf),
// and charset decodes text for all of them. Chunking, language detection and
// embedding are in other packages.
//
// The deadline is enforced on every platform. The parent watches a child's
// memory on Linux only; elsewhere the caps on pdfium's memory and on the
// child's Go memory apply. A child exits when its standard input closes; on
// Linux it also dies with its parent.
package extract
