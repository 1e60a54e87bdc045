package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// elided are the French, Italian and Catalan words that lose their vowel before another word and
// are joined to it: l'usine, d'huile, dell'acqua, qu'elle.
var elided = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`l d j m n s t c qu jusqu lorsqu puisqu quoiqu quelqu presqu aujourd entr
		un dell all nell sull dall coll gl quell bell sant tutt senz mezz dov cos com ch anch quest pov grand`) {
		words[word] = true
	}
	return words
}()

// elision returns the word behind an elided one, "" if a run has none: huile of d'huile. The run is
// in lower case with straight apostrophes.
func elision(run string) string {
	article, word, ok := strings.Cut(run, "'")
	if !ok || !elided[article] || utf8.RuneCountInString(word) < 2 {
		return ""
	}
	return word
}

// possessed returns a word without the 's of an English possessive, which a stemmer takes off only
// words of ASCII.
func possessed(run string) string {
	if word, ok := strings.CutSuffix(run, "'s"); ok && word != "" {
		return word
	}
	return run
}

// textRun is a run of ASCII letters and digits in a text.
type textRun struct {
	word       string
	start, end int
}

// maxJoined bounds a joined word, in bytes.
const maxJoined = 24

// units stand behind numbers, with or without a space.
var units = func() map[string]bool {
	list := map[string]bool{}
	for _, unit := range strings.Fields(`nm mm cm dm m km um g kg mg ug t v mv kv a ma w kw mw gw va kva hz khz mhz ghz bar mbar pa kpa mpa hpa psi
		rpm l ml cl hl s ms us ns min h db dba k c f b kb mb gb tb kib mib gib tib bit kbit mbit gbit kbps mbps gbps ah mah wh kwh mwh ohm
		kohm n kn j kj mj cal kcal lb lbs oz ft mph kmh dpi px ppm lm lx cd mol rad deg bps fps eur usd chf`) {
		list[unit] = true
	}
	return list
}()

// maxPrefix is how many capitals stand before a number behind a space that is joined to them.
const maxPrefix = 5

// joined calls yield for each joined form of the identifiers and quantities of a text, in lower
// case, and for the parts of those that are written as one word, so that E505 finds E-505 and
// E 505, and 42 Nm finds 42Nm:
//
//	E505 -> 505      E-505 -> e505      ISO 9001 -> iso9001      42 Nm -> 42nm      42Nm -> 42, nm
func joined(text string, yield func(word string)) {
	text, signs := plainUnits(text)
	var before textRun
	for i := 0; i < len(text); {
		if !isLetter(text[i]) && !isDigit(text[i]) {
			i++
			continue
		}
		end, letters := i, 0
		for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
			if isLetter(text[end]) {
				letters++
			}
			end++
		}
		run := textRun{word: text[i:end], start: i, end: end}
		if i > 0 && isPartOfWord(text[:i], true) || end < len(text) && isPartOfWord(text[end:], false) {
			before, i = textRun{}, end
			continue
		}
		if letters > 0 && letters < end-i {
			if signs {
				yield(strings.ToLower(run.word)) // the word of the text has the sign
			}
			split(strings.ToLower(run.word), yield)
		}
		if before.word != "" && len(before.word)+len(run.word) <= maxJoined && joins(text[before.end:run.start], before.word, run.word) {
			yield(strings.ToLower(before.word + run.word))
		}
		before, i = run, end
	}
}

// unitSigns are the signs of units that are no ASCII, before the letters of the unit.
var unitSigns = strings.NewReplacer("µ", "u", "μ", "u", "° C", "C", "°C", "C", "℃", "C", "° F", "F", "°F", "F", "℉", "F")

// plainUnits returns a text with units in ASCII, and whether it has units with signs: 25 °C becomes
// 25 C.
func plainUnits(text string) (plain string, signs bool) {
	if !strings.ContainsAny(text, "µμ°℃℉") {
		return text, false
	}
	plain = unitSigns.Replace(text)
	return plain, plain != text
}

// isPartOfWord reports whether a letter or number that is not ASCII stands at the end or the beginning of a text.
func isPartOfWord(text string, atEnd bool) bool {
	r, _ := utf8.DecodeRuneInString(text)
	if atEnd {
		r, _ = utf8.DecodeLastRuneInString(text)
	}
	return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
}

// joins reports whether two runs are parts of one identifier or quantity: letters on one side and
// a digit on the other, with nothing but one sign or space between them.
func joins(between, left, right string) bool {
	number := isDigit(left[len(left)-1])
	if number == isDigit(right[0]) {
		return false
	}
	switch between {
	case "-", "_", "/", ".", "\u2010", "\u2011", "\u2013":
		return true
	case " ", "\u00a0", "\u202f":
		if number {
			return onlyDigits(left) && units[strings.ToLower(right)]
		}
		return onlyDigits(right) && onlyCapitals(left) && len(left) <= maxPrefix
	}
	return false
}

// split calls yield for the letters and the digits of a word that has one group of each: 505 of e505,
// 42 and nm of 42nm. One letter alone is left out. Other words (a hash, h2o) are whole.
func split(word string, yield func(part string)) {
	at := 0
	for i := 1; i < len(word); i++ {
		if isDigit(word[i]) != isDigit(word[i-1]) {
			if at > 0 {
				return
			}
			at = i
		}
	}
	if at == 0 || len(word) > maxJoined {
		return
	}
	for _, part := range []string{word[:at], word[at:]} {
		if len(part) > 1 {
			yield(part)
		}
	}
}

func onlyDigits(s string) bool   { return strings.Trim(s, "0123456789") == "" }
func onlyCapitals(s string) bool { return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }

// signed are the names that are told apart by signs which are no letters: C is not C++.
var signed = map[string]string{
	"c++": "cplusplus", "g++": "gplusplus", "notepad++": "notepadplusplus", "c#": "csharp", "f#": "fsharp", "j#": "jsharp", "q#": "qsharp", ".net": "dotnet",
	"asp.net": "dotnet", "ado.net": "dotnet", "vb.net": "dotnet", "cpp": "cplusplus", "csharp": "csharp", "fsharp": "fsharp", "dotnet": "dotnet",
}

// signedNames calls yield for each of signed in a text in lower case, with what the name is without
// its signs.
func signedNames(text string, yield func(word, bare string)) {
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && (isLower(text[end]) || isDigit(text[end]) || isSign(text[end])) {
			end++
		}
		if end == i {
			i++
			continue
		}
		token := strings.TrimRight(text[i:end], ".")
		word, ok := signed[token]
		if version := strings.TrimRight(token, "0123456789."); !ok && strings.ContainsAny(version, ".+#") { // c++17, .net8
			token = version
			word, ok = signed[token]
		}
		if ok {
			yield(word, strings.Trim(token, ".+#"))
		}
		i = end
	}
}

func isSign(c byte) bool { return c == '.' || c == '+' || c == '#' }
