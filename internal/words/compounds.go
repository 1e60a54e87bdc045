package words

import "strings"

// A German compound is found by its head too: Krankenversicherung is a Versicherung. The
// other parts are left out. With them a text with compounds has many more words than another
// one, and ranks lower for all of them.

const (
	minCompound = 9 // letters; shorter words have no head
	minModifier = 3 // letters before a head
	minHead     = 4
	maxHead     = 15
	minLinked   = 6 // letters before and behind an s that links two words
)

// inflections are the endings of a head, the empty one first.
var inflections = []string{"", "s", "en", "n", "es", "e", "er"}

// linkedEndings are the endings of German nouns that an s links to the next word, as in
// Versicherungs-archiv. Few words of other languages have one in their middle.
var linkedEndings = []string{"ungs", "heits", "keits", "schafts", "tats"}

// compoundHead returns the last part of a German compound in lower case without accents,
// and "" of another word. It is a noun of compoundHeads, without its ending, or stands behind
// an s that links it to the part before:
//
//	krankenversicherungen -> versicherung
//	zeitungsarchiv        -> archiv
func compoundHead(word string) string {
	if len(word) < minCompound || len(word) >= maxWordBytes || !isLowerASCII(word) {
		return ""
	}
	switch before, head := splitHead(word); {
	case head != "" && (before == "" || isPrefix(before)):
		return "" // Versicherung, Auszahlung
	case head != "":
		return head
	}
	return behindLink(word)
}

// splitHead splits a word before the longest noun of compoundHeads at its end. before is
// empty if the word is that noun.
func splitHead(word string) (before, head string) {
	for _, ending := range inflections {
		base, ok := strings.CutSuffix(word, ending)
		if !ok {
			continue
		}
		least := minHead
		if ending == "en" || ending == "er" {
			least++ // Mühlhausen
		}
		for n := min(maxHead, len(base)); n >= least && n > len(head); n-- {
			rest, noun := base[:len(base)-n], base[len(base)-n:]
			if compoundHeads[noun] && (rest == "" || len(rest) >= minModifier && strings.ContainsAny(rest, "aeiouy")) {
				before, head = rest, noun
				break
			}
		}
	}
	return before, head
}

// isPrefix reports whether a part only changes the meaning of the word behind it.
func isPrefix(part string) bool {
	switch part {
	case "auf", "aus", "bei", "durch", "ein", "ent", "her", "hin", "los", "mit", "nach", "uber", "unter", "ver", "vor", "weg", "wider", "wieder", "zer", "zusammen":
		return true
	}
	return false
}

// behindLink returns what stands behind the last s that links a noun with an ending of
// linkedEndings, "" if none does.
func behindLink(word string) string {
	at := 0
	for _, ending := range linkedEndings {
		if i := strings.LastIndex(word, ending); i >= 0 && i+len(ending) > at {
			at = i + len(ending)
		}
	}
	if at-1 < minLinked || len(word)-at < minLinked {
		return ""
	}
	return word[at:]
}

func isLowerASCII(word string) bool {
	for i := range len(word) {
		if !isLower(word[i]) {
			return false
		}
	}
	return true
}
