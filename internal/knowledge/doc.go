// Package knowledge is the vocabulary of Cairn: what a document, a chunk, a
// citation, a principal, a filter and an error are. Every other package speaks
// in these words. It holds no behaviour beyond the rules that belong to the
// words themselves (how an id is derived, which principal may see what) and
// imports the standard library only.
package knowledge
