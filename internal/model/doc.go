// Package model speaks to model endpoints: chat with streaming and tool calls,
// embeddings, and the list of models, for anything that answers in the OpenAI
// protocol. The offline model (package localmodel) is reached like any other.
//
// A Client never retries: every failure is an *Error that says what happened,
// whether trying again can help and when, and the caller decides. An endpoint
// that says nothing, stops in the middle or sends garbage ends in such an error
// too; no call hangs.
//
// It does not choose endpoints, pace calls or remember results.
package model
