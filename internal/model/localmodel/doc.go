// Package localmodel is the offline model: a handler in the OpenAI protocol that
// needs no key, no network and no weights, so that a newcomer and the tests can
// run everything. It is honest about what it is. Its answers are sentences taken
// from the passages in the prompt, each with the passage it came from, and bear
// the model name "cairn-offline"; where the passages do not answer, it says so.
// Its embeddings are hashed words and parts of words. Its tool calls follow a
// rule: it searches when it was given a search and no passages.
//
// Everything is deterministic: the same request always gets the same answer, so
// a retried call streams the same text.
//
// It does not understand language and is no judge of it.
package localmodel
