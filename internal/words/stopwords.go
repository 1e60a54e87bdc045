package words

// isStopWord reports whether word says nothing about a subject. Stop words are
// indexed, so that a question that consists of stop words still finds
// something.
func isStopWord(word string) bool {
	switch word {
	case "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are",
		"as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but",
		"by", "can", "could", "did", "do", "does", "doing", "down", "during", "each", "few", "for",
		"from", "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his",
		"how", "i", "if", "in", "into", "is", "it", "its", "itself", "just", "many", "me", "more", "most", "much",
		"my", "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other", "our", "ours",
		"out", "over", "own", "same", "she", "should", "so", "some", "such", "than", "that", "the",
		"their", "theirs", "them", "then", "there", "these", "they", "this", "those", "through",
		"to", "too", "under", "until", "up", "very", "was", "we", "were", "what", "when", "where",
		"which", "while", "who", "whom", "why", "will", "with", "would", "you", "your", "yours":
		return true
	}
	return false
}
