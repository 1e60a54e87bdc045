// Package protocol is the serving side of the OpenAI protocol, as far as Cairn's
// own model servers (localmodel and modeltest) speak it: reading and checking
// requests for chat, embeddings and models, and writing answers, streams and
// errors in the shapes that clients expect. What to answer is not its matter.
package protocol
