// Package namespace reaches the namespace of a Temporal server that holds Cairn's
// workflows. It dials the server, and prepares or checks what Cairn needs in the
// namespace. It starts no server (internal/embedded) and no workflow
// (internal/dispatch).
package namespace
