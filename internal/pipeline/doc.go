// Package pipeline runs the steps that a customer puts into the ways of documents and
// questions, by an address or by code in the sandbox, and says what a step is sent and may
// answer at each place. It stores nothing and knows no workflow: activities keep what a step
// answered, and decide what its failure means.
package pipeline
