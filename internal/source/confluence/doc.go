// Package confluence follows Confluence, in the cloud and in a data center: the pages, blog
// posts and attachments of a space, or of all spaces that an account sees. It searches for
// what was modified since the run before and, some hours apart, lists everything, because
// Confluence does not tell what is gone. With the rights it lists everything in each run:
// they change without the pages.
//
// It speaks the REST protocol of Confluence, and needs no client library.
package confluence
