package model

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// echo is the length from which on words that a message shares with the request are left out, in
// bytes.
const echo = 20

// maxChecked bounds the message of an endpoint that is looked at, in bytes.
const maxChecked = 4000

// secretWords match what looks like a key, a token or a masked key.
var secretWords = regexp.MustCompile(`(?i)bearer\s+\S+|\S*\*{3,}\S*|\b(?:sk|pk|rk|gsk|xai|key|api|hf|nvapi|AIza)[-_][A-Za-z0-9_-]{6,}|\bAIza[A-Za-z0-9_-]{10,}|` +
	`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]+|\b[A-Fa-f0-9]{32,}\b|\b(?:[A-Za-z]+[0-9]|[0-9]+[A-Za-z])[A-Za-z0-9]{22,}\b`)

// withoutSecrets returns what an endpoint said without the key, without what looks like one, and
// without words that the request has too.
func withoutSecrets(message, key string, words []string) string {
	message = strings.ToValidUTF8(message[:min(len(message), maxChecked)], "")
	if len(key) > 3 {
		message = strings.ReplaceAll(message, key, "[…]")
	}
	message = secretWords.ReplaceAllString(message, "[…]")
	for _, text := range words {
		if len(text) >= 4 && len(text) < echo {
			message = strings.ReplaceAll(message, text, "[…]")
		}
	}
	return strings.Join(strings.Fields(withoutEcho(message, words)), " ")
}

// withoutEcho leaves out the runs of a message that stand in one of the texts.
func withoutEcho(message string, texts []string) string {
	if len(message) < echo {
		return message
	}
	at := map[string][]int{} // places of each piece of the message
	for i := 0; i+echo <= len(message); i++ {
		at[message[i:i+echo]] = append(at[message[i:i+echo]], i)
	}
	cut := make([]bool, len(message))
	for _, text := range texts {
		for i := 0; i+echo <= len(text); i++ {
			for _, place := range at[text[i:i+echo]] {
				for j := range echo {
					cut[place+j] = true
				}
			}
		}
	}
	var out strings.Builder
	for i, w := 0, 0; i < len(message); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(message[i:])
		switch {
		case !cut[i]:
			out.WriteRune(r)
		case i == 0 || !cut[i-1]:
			out.WriteString("[…]")
		}
	}
	return out.String()
}
