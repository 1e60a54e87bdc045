// Package model calls model endpoints that speak the OpenAI protocol: chat with
// streaming and tool calls, embeddings, and the list of models. The offline
// model (package localmodel) is called in the same way.
//
// A Client does not retry, except without an option that the endpoint refuses.
// Every failure is an *Error with a code, whether a retry can help, and when;
// the caller decides. No call hangs: an endpoint that is silent, stops in mid
// answer or sends garbage causes such an error too.
//
// Chats are the chat endpoints of an instance: where one fails, the next one is asked.
// The package does not store results.
package model
