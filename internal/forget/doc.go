// Package forget cuts the quotations of one document out of the answers that are stored:
// out of the messages of conversations, and out of the results, logs and records of runs.
//
// A citation supports the text between it and the citation before it. [Forgetter.Document]
// cuts this text if the citation names the document, and then also the text after the last
// citation of the answer, whose source is unknown. It cuts phrases of the cited text from all
// other answers, and phrases of the document itself if the document still exists. A phrase
// has [phraseWords] consecutive words.
package forget
