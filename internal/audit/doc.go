// Package audit is the audit trail: what an entry says of a request, the chain of hashes that
// shows what was changed afterwards, the signed checkpoints, and the commit that concurrent
// readers share. It stores no entries (package store) and knows no routes (package api/edge).
package audit
