// Package protocol is the server side of the OpenAI protocol for Cairn's own
// model servers (localmodel and modeltest). It reads and checks requests for
// chat, embeddings and models, and writes answers, streams and errors in the
// form that clients expect. The servers decide what to answer.
package protocol
