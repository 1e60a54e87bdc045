// Package forget cuts the quotations of one document out of the answers that are stored:
// out of the messages of conversations, and out of the results, logs and records of runs.
//
// What stands before a citation belongs to it, so a part of an answer that cites the
// document is cut, and so is a part without a citation behind it. In all other answers
// phrases of these parts are cut, and phrases of the document itself if it is still there.
// A phrase is [phraseWords] consecutive words.
package forget
