// Package origin reads the documents and conversations of other systems, so that they can be
// brought here: Open WebUI, Dify and RAGFlow, by their documented HTTP APIs, and the file of
// chats that Open WebUI exports.
//
// It writes nothing, and knows nothing of where the things go.
package origin
