// Package archive reads the files of a zip archive one at a time, and the files
// of archives inside it. It writes no file of the archive to disk under its name,
// and parses only the directory of the archive: each file is parsed like an
// upload.
//
// A file that must not be read (a path that leads out of the archive, a bomb, a
// second file of the same name, a link, an encrypted file) is listed, and Open
// returns the reason. The other files are not affected.
package archive
