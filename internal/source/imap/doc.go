// Package imap follows a mailbox of an IMAP server: each message is an object with its bytes
// as the server has them.
//
// A message is known by what it says of itself (its id, date, sender, subject and size), not
// by the numbers that the server gives it. So its document stays when the server renumbers
// the mailbox. The package reads, and never marks a message as read.
package imap
