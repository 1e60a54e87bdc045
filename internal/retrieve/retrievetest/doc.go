// Package retrievetest changes documents and their access at random, and
// compares each search with a list of every chunk that the principal may see.
// An adapter of the index runs it beside the contract of package indextest,
// because a search is right only if the index and the store agree.
package retrievetest
