// Package clamd asks ClamAV's daemon whether a file is malware, by the command INSTREAM of its
// protocol over TCP. It does not decide what becomes of a file.
package clamd
