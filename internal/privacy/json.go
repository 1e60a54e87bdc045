package privacy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns the text of a JSON value with placeholders in its texts, and in the place of its
// numbers. A text that is no JSON has them as Text writes them.
func (r *Redactor) JSON(text string) string {
	redacted, ok := mapJSON(text, r.labelled)
	if !ok {
		return r.Text(text)
	}
	return redacted
}

// mapJSON returns the text of a JSON value with its texts and numbers as change returns them,
// which is also told the key of the object that they stand behind. A number that changes
// becomes a text. Keys change as texts without a label. All else stays as it is written. ok is
// false if the text is no JSON.
func mapJSON(text string, change func(label, value string) string) (changed string, ok bool) {
	if !json.Valid([]byte(text)) {
		return text, false
	}
	var out strings.Builder
	label := ""
	for at := 0; at < len(text); {
		n := literal(text[at:])
		if n == 0 {
			out.WriteByte(text[at])
			at++
			continue
		}
		raw := text[at : at+n]
		at += n
		value, isText := raw, raw[0] == '"'
		if isText {
			value = unquoted(raw)
		}
		isKey := isText && strings.HasPrefix(strings.TrimLeft(text[at:], " \t\r\n"), ":")
		under := label
		if isKey {
			under, label = "", value
		}
		if now := change(under, value); now != value {
			raw = quoted(now)
		}
		out.WriteString(raw)
	}
	return out.String(), true
}

// literal returns the length of the text or number with which valid JSON begins, 0 if it
// begins with something else.
func literal(text string) int {
	if text[0] != '"' {
		end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("+-.eE0123456789", r) })
		if end < 0 {
			end = len(text)
		}
		if !strings.ContainsAny(text[:end], "0123456789") {
			return 0
		}
		return end
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func unquoted(raw string) (text string) {
	_ = json.Unmarshal([]byte(raw), &text) // raw is a text of valid JSON
	return text
}

// quoted returns a text as JSON. Brackets stay as they are: they are those of placeholders.
func quoted(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can always be encoded
	return strings.TrimSuffix(out.String(), "\n")
}
