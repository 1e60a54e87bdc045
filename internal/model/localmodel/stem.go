package localmodel

// stem removes the endings of an English word in place: "launches", "launched"
// and "launching" become "launch". It removes less than Porter's stemmer, so that
// words of different meanings keep different stems. It does not change words with
// characters other than a to z.
func stem(word []byte) []byte {
	if len(word) < 4 {
		return word
	}
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	word = cutPlural(word)
	word = cutVerb(word)
	word = cutDerived(word)
	if n := len(word); n > 3 && word[n-1] == 'e' {
		word = word[:n-1]
	}
	if n := len(word); n > 3 && word[n-1] == 'y' && !vowel(word[n-2]) {
		word[n-1] = 'i'
	}
	return word
}

func cutPlural(w []byte) []byte {
	n := len(w)
	switch {
	case ends(w, "sses"), ends(w, "shes"), ends(w, "ches"), ends(w, "xes"), ends(w, "zes"):
		return w[:n-2]
	case ends(w, "ies") && n > 4:
		w[n-3] = 'y'
		return w[:n-2]
	case ends(w, "ss"), ends(w, "us"), ends(w, "is"):
		return w
	case w[n-1] == 's':
		return w[:n-1]
	}
	return w
}

func cutVerb(w []byte) []byte {
	for _, suffix := range [...]string{"ing", "ed"} {
		if !ends(w, suffix) {
			continue
		}
		if ends(w, "eed") {
			return w
		}
		rest := w[:len(w)-len(suffix)]
		if len(rest) < 3 || !hasVowel(rest) {
			return w
		}
		if n := len(rest); rest[n-1] == rest[n-2] && !vowel(rest[n-1]) && rest[n-1] != 'l' && rest[n-1] != 's' && rest[n-1] != 'z' {
			rest = rest[:n-1]
		}
		if n := len(rest); rest[n-1] == 'i' {
			rest[n-1] = 'y' // "carried"
		}
		return rest
	}
	return w
}

// derived are endings that change the class of a word. They are removed if at
// least four letters are left.
var derived = [...]string{
	"ational", "ization", "isation", "fulness", "iveness", "ousness", "ically", "ation", "ement",
	"ment", "ness", "ally", "ful", "ity", "ive", "ize", "ise", "ate", "ion", "ant", "ent", "ly", "al",
}

func cutDerived(w []byte) []byte {
	for _, suffix := range derived {
		if ends(w, suffix) && len(w)-len(suffix) >= 4 {
			return w[:len(w)-len(suffix)]
		}
	}
	return w
}

func ends(w []byte, suffix string) bool {
	n, m := len(w), len(suffix)
	return n >= m && w[n-1] == suffix[m-1] && string(w[n-m:]) == suffix
}

func vowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y' }

func hasVowel(w []byte) bool {
	for _, c := range w {
		if vowel(c) {
			return true
		}
	}
	return false
}
