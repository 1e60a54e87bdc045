// Package envelope encrypts what Cairn stores outside of its database: blobs, and the payloads
// in Temporal's histories. Each is encrypted with a key of its own, which is derived from a
// data key. The data keys are kept in the database, wrapped by a master key, which is in a
// file or in a key management service and never beside the data. It knows neither blobs nor
// Temporal, and passes through what is not encrypted, so an instance can begin to encrypt at
// any time.
package envelope
