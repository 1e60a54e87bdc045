// Package extract turns the bytes of a file into a knowledge.Layout: blocks of
// text in reading order, with pages and the box of every line where the format
// has pages.
//
// Sniff names the media type by content and refuses what is not supported.
// Parsing runs in child processes: Serve is the loop of such a child (cairn
// parse) and Pool keeps a few of them, feeds them one document at a time, and
// holds each to its limits of time, memory and processor time. A hostile file
// therefore ends a child, never the process that asked.
//
// Each format family has a subpackage (text, markdown, html, table, pdf), and
// charset decodes text for all of them. The package does not decide what
// becomes of a layout: chunking, language and embeddings are elsewhere.
//
// What the limits rest on: the deadline works on every platform. The memory
// limit is watched from outside on Linux only; elsewhere the cap on pdfium's
// memory and the Go memory limit of the child remain. A child ends when its
// standard input closes; on Linux it also dies with its parent.
package extract
