// Package retrieve finds the passages that may answer a question: the nearest
// by vector and the best by words, fused into one list, checked against SQL
// and without near duplicates.
//
// It is the only way from a question to a text. An index may be stale; nothing
// leaves here that SQL, asked last, does not show to the principal.
package retrieve
