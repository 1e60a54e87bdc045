// Package chunk cuts a layout into the passages that are embedded, found and
// cited. A chunk's text is exactly the document's text at its span, so that
// offsets in one map to offsets in the other. Each strategy has a file of its
// own. The package calls no model: the semantic strategy gets the vectors that it
// compares from its caller.
package chunk
