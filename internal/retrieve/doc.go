// Package retrieve finds the passages that may answer a question: the nearest
// by vector and the best by words, fused into one list, rechecked in SQL and
// without near duplicates.
//
// It is the only way from a question to a text. An index may be stale: SQL is
// asked last, and this package returns only passages that SQL shows to the
// principal.
package retrieve
