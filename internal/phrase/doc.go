// Package phrase has the sentences that Cairn itself writes into answers and reports, in the
// language of the question.
package phrase
