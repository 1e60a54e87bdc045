// Package credential decides who may use a named secret, and returns its value. It knows
// the secrets of the configuration and those that were stored by the API. A secret that
// one may not use looks like one that does not exist, whatever the reason. Keys of Cairn's
// own API, webhooks and passwords of documents are no business of this package.
package credential
