// Package store is the SQL truth of Cairn: what exists, who may see it, and
// which version of a document readers see. Everything else (vectors, full text,
// bytes, histories) is a cache of it or is named by it.
//
// Store embeds a type for each resource (documentStore, runStore, …), in whose files its
// methods are. Types of several resources share a database, and change each other's rows
// through functions that take the transaction.
//
// The methods are of three groups. Reads for clients take the Principal
// first. They return rows of its workspace, and of its project if it is held to one,
// and nothing else. The zero Principal is refused. The pipeline's methods (Version,
// SetStage, Publish, …) take a VersionRef, RemoveRows a Removal, and are called
// by activities. The rest (settings, keys, idempotency) serves access and the
// HTTP edge.
//
// A search finds a document that has a published version, is neither inactive
// nor being removed, and shares an access token with the principal, whatever its
// scopes. Lists and reads by id show a reader the same, and what is one user's or
// one conversation's alone from its upload on. The write and admin scopes are
// shown every document of the workspace (and project).
//
// The database is SQLite, where one connection writes and a few read, so that a write
// never meets another one, or PostgreSQL, where transactions that write are serializable
// and are tried again when they met another one. Statements of the way of a document and
// of a question are prepared once (table, pool); the others are built by package bun.
// All are written for both databases; the few words that only SQLite knows have their
// twins in twins.go. Package storetest holds an adapter to the contract.
//
// Other packages check the scope that a route needs (api), make principals (access),
// and search texts (index).
package store
