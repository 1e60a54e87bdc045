package localmodel

// stopWord reports whether a folded word has hardly any meaning of its own.
func stopWord(word []byte) bool {
	switch string(word) {
	case "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "as", "at",
		"be", "because", "been", "before", "being", "below", "between", "both", "but", "by",
		"can", "cannot", "cant", "could", "did", "do", "does", "doesnt", "doing", "dont", "down", "during",
		"each", "either", "else", "etc", "even", "ever", "every", "few", "for", "from", "further",
		"get", "gets", "getting", "got", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "however",
		"i", "if", "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive", "just",
		"let", "lets", "like", "many", "may", "me", "might", "more", "most", "much", "must", "my", "myself",
		"neither", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only", "or", "other", "our", "ours", "out", "over", "own",
		"per", "rather", "same", "shall", "she", "should", "since", "so", "some", "still", "such",
		"than", "that", "thats", "the", "their", "theirs", "them", "then", "there", "therefore", "these", "they", "this", "those",
		"through", "thus", "to", "too", "under", "until", "up", "upon", "us", "very", "via",
		"was", "we", "were", "what", "whats", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
		"will", "with", "within", "without", "would", "yet", "you", "your", "yours":
		return true
	}
	return false
}

// requestWord reports whether a word in a question describes the form of the
// answer rather than its subject.
func requestWord(word []byte) bool {
	switch string(word) {
	case "answer", "briefly", "describe", "detail", "detailed", "details", "discuss", "explain", "find", "give", "hello", "hi",
		"know", "list", "mean", "means", "mention", "need", "please", "question", "say", "show", "summarise", "summarize",
		"tell", "thank", "thanks", "want", "wondering", "write":
		return true
	}
	return false
}
