// Package words cuts a text into the words by which it is found: it segments,
// folds and stems them. Every index uses it for documents and for questions, so
// that all of them find the same words. It does not rank.
package words
