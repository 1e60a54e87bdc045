// Package drive follows Google Drive: a shared drive, a folder, or all that a service
// account sees. It asks for the changes since a page token, and lists everything again when
// a folder has changed, because a folder stands for all that is below it.
//
// It speaks the REST protocol of Drive, version 3, and needs no client library.
package drive
