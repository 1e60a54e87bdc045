// Package webdav follows a folder of a WebDAV server, such as Nextcloud: it lists the
// tree folder by folder, and tells by the etags of files and the id of the server's
// database what has changed and what was moved.
//
// It knows the properties of Nextcloud and ownCloud, and does without them elsewhere.
package webdav
