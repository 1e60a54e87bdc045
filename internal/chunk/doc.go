// Package chunk cuts a layout into the passages that are embedded, found and
// cited. A chunk's text is exactly the document's text at its span, so that an
// offset into the one is an offset into the other. One file a strategy.
package chunk
