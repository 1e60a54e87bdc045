// Package connect opens the store of blobs that an address names: a folder, or a bucket of
// a service. It is the only package that knows the adapters of services.
package connect
