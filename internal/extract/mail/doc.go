// Package mail reads e-mail messages (EML, mbox) and saved web pages (MHT), which are
// made of MIME parts.
//
// The text of a message comes from its text part, or from its HTML part if the message
// has no other or says far more in it. Attachments, and messages inside the message,
// are children. Pictures that belong to the text are assets. Nothing that a message
// points to is fetched.
package mail
