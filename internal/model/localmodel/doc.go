// Package localmodel is the offline model: an HTTP handler for the OpenAI
// protocol that needs no key, no network and no weights, so that newcomers and
// tests can run everything. Its answers are sentences of the passages in the
// prompt, each with a citation, under the model name "cairn-offline". If the
// passages do not answer the question, it says so. Its embeddings are hashed
// words and parts of words, beside the mean of word vectors from a table that
// distill/ makes. Its tool calls follow a rule: it searches if it has
// a search tool and no passages.
//
// The model is deterministic: the same request always gets the same answer, so
// a retried call streams the same text.
//
// It does not understand language, and its answers say nothing about the
// quality of other models.
package localmodel
