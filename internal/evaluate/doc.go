// Package evaluate has the calculations of an evaluation: the items of a test set and their
// files, judging an answer by a model or without one, measures of retrieval, intervals,
// comparisons of two evaluations, the gate of a pipeline, the agreement of a judge with people,
// and questions made from passages. It reads no store, calls no model and starts nothing: its
// functions take what was answered and return numbers, prompts and texts, and each is a pure
// function of its arguments, random choices included (they take a seed).
//
// A guided tour: item.go and read.go (test sets), case.go (what is judged), rubric.go and
// verdict.go (judging by a model), offline.go (judging without one), retrieval.go, outcome.go
// and bootstrap.go (from judgements to means with intervals), compare.go, gate.go, agreement.go,
// generate.go, junit.go, table.go and results.go (reports), group.go and contradiction.go.
package evaluate
