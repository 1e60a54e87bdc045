// Package outlook reads the messages of Outlook (MSG): compound files with a stream for
// each property ([MS-OXMSG]). It makes the parts of a mail of them, which package mail
// reads. A message inside becomes a mail in a file of its own.
package outlook
