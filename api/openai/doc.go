// Package openai serves Cairn in the protocol of OpenAI, below /v1 and below the
// webhooks of a workspace, so that its clients work with another base_url:
// docs/openai.md lists the routes and what differs.
//
// It holds nothing of its own. A request whose model is one of the instance's goes to
// that model's endpoint as the client wrote it. A request whose model is a project
// ("project:<slug>") starts a run like POST /query does, and the answer is a view of
// that run and of the log of its events. Package api/edge authenticates, and writes the
// errors in the shape of this protocol.
package openai
