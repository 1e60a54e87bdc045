package extract

import (
	"encoding/json"
	"errors"
	"io"
	"net/mail"
	"path"
	"regexp"
	"strings"
)

var (
	subRip     = regexp.MustCompile(`^\d+[ \t]*\r?\n\d{1,2}:\d{2}:\d{2}[,.]\d{1,3} *--> *\d{1,2}:\d{2}:\d{2}`)
	htmlStart  = regexp.MustCompile(`^(?is)(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html)[\s>]`)
	fragment   = regexp.MustCompile(`^(?i)<(?:head|body|div|p|h[1-6]|table|ul|ol|article|section|main|title|meta|link)[\s>]`)
	xmlRoot    = regexp.MustCompile(`^(?s)(?:<!--.*?-->|\s)*<(?:!DOCTYPE\s|[A-Za-z_][\w.:-]*(?:\s[^>]*)?\sxmlns[=:])`)
	latexStart = regexp.MustCompile(`^(?:%[^\n]*\n|\s)*\\(?:documentclass|documentstyle)\s*[\[{]`)
	asciiDoc   = regexp.MustCompile(`^(?://[^\n]*\n|\s)*= \S[^\n]*\n(?:[^\n]+\n){0,8}?:!?[\w][\w-]*!?:(?:[ \t][^\n]*)?\r?(?:\n|$)`)
	// mailboxLine begins a message of a mailbox: From ann@example.com Tue Jul 29 12:42:06 2025.
	mailboxLine = regexp.MustCompile(`^From \S+ +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d(?::\d\d)? .*\d{4}\r?$`)
	headerRow   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*:`)
)

// markedTextType returns the media type of a file that is text with a form of its own
// (mail, subtitles, XML), "" if it is none of these. The type need not be in the
// table of formats.
func markedTextType(name, expected, text string) string {
	body := strings.TrimLeft(text, "\ufeff \t\r\n")
	switch {
	case strings.HasPrefix(body, `{\rtf`):
		return TypeRTF
	case isWebVTT(body):
		return TypeWebVTT
	case subRip.MatchString(body):
		return TypeSubRip
	case strings.HasPrefix(body, "%!PS"):
		return "application/postscript"
	case strings.HasPrefix(body, "/* XPM */"):
		return "image/x-xpixmap"
	}
	if kind := mailType(name, body); kind != "" {
		return kind
	}
	return xmlType(name, expected, body)
}

func isWebVTT(body string) bool {
	rest, ok := strings.CutPrefix(body, "WEBVTT")
	return ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// xmlType returns the media type of an XML file that is not XHTML, "" for anything
// else.
func xmlType(name, expected, body string) string {
	if startsHTML(body) || !strings.HasPrefix(body, "<") {
		return ""
	}
	declared := strings.HasPrefix(body, "<?xml")
	if !declared && strings.HasPrefix(expected, "text/") {
		return ""
	}
	ext := strings.ToLower(path.Ext(name))
	isXML := declared || xmlRoot.MatchString(body) || ext == ".xml" || ext == ".svg" || ext == ".rss" || ext == ".atom"
	switch {
	case !isXML:
		return ""
	case strings.Contains(body[:min(len(body), 2048)], "<svg"):
		return TypeSVG
	default:
		return TypeXML
	}
}

// startsLaTeX reports whether body begins as a LaTeX document does.
func startsLaTeX(body string) bool { return latexStart.MatchString(body) }

// startsAsciiDoc reports whether body begins with the header of AsciiDoc: a title, and an
// attribute.
func startsAsciiDoc(body string) bool { return asciiDoc.MatchString(body) }

// startsHTML reports whether body begins with an HTML page or a fragment of one.
func startsHTML(body string) bool { return isPage(body) || fragment.MatchString(body) }

func isPage(body string) bool { return htmlStart.MatchString(body[:min(len(body), 4096)]) }

// mailType recognises a mail or a saved web page (MHT), and returns "" for
// anything else. News articles and memos with From and To lack the headers that
// only mail software writes, and a date in the form of mail: they are text.
func mailType(name, body string) string {
	isNamed := strings.EqualFold(path.Ext(name), ".eml")
	if line, rest, ok := strings.Cut(body, "\n"); ok && strings.HasPrefix(line, "From ") {
		body = rest
		isNamed = isNamed || mailboxLine.MatchString(line)
	}
	headers := mailHeaders(body)
	if len(headers) < 3 && !isNamed || headers["newsgroups"] != "" || headers["path"] != "" {
		return ""
	}
	strong, usual := false, 0
	for _, h := range []string{"mime-version", "received", "return-path", "message-id", "x-mailer", "x-mimeole",
		"delivered-to", "authentication-results", "dkim-signature", "x-notes-item"} {
		strong = strong || headers[h] != ""
	}
	for _, h := range []string{"from", "to", "subject", "date", "reply-to", "content-type"} {
		if headers[h] != "" {
			usual++
		}
	}
	strong = strong || isNamed && usual > 0 || isDated(headers)
	switch {
	case !strong || usual == 0 && headers["x-notes-item"] == "":
		return ""
	case strings.Contains(strings.ToLower(headers["content-type"]), "multipart/related") &&
		(headers["content-location"] != "" || headers["snapshot-content-location"] != "" ||
			strings.Contains(headers["from"], "Saved by")):
		return TypeMHT
	default:
		return TypeMail
	}
}

// isDated reports whether headers without any that only mail software writes are the
// headers of a message: its sender has an address, and its date has the form of mail.
func isDated(headers map[string]string) bool {
	if !strings.Contains(headers["from"], "@") || headers["to"] == "" && headers["subject"] == "" {
		return false
	}
	_, err := mail.ParseDate(strings.TrimSpace(headers["date"]))
	return err == nil
}

// mailHeaders returns the header fields at the start of body by lower case name.
func mailHeaders(body string) map[string]string {
	headers := map[string]string{}
	last := ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
			return headers
		case line[0] == ' ' || line[0] == '\t':
			headers[last] += line
		case headerRow.MatchString(line):
			key, value, _ := strings.Cut(line, ":")
			last = strings.ToLower(key)
			headers[last] += value + " "
		default:
			return headers
		}
	}
	return headers
}

// looksJSON reports whether body, which may be cut off, begins with a JSON
// object or array.
func looksJSON(body string) bool {
	if !strings.HasPrefix(body, "{") && !strings.HasPrefix(body, "[") {
		return false
	}
	d := json.NewDecoder(strings.NewReader(body))
	depth := 0
	for tokens := 0; ; tokens++ {
		token, err := d.Token()
		if err != nil {
			cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || d.InputOffset() > int64(len(body)*9/10)
			return cut && tokens > 2 && len(body) >= HeadBytes/2
		}
		if delim, ok := token.(json.Delim); ok {
			if delim == '{' || delim == '[' {
				depth++
			} else {
				depth--
			}
		}
		if depth == 0 {
			return strings.TrimSpace(body[d.InputOffset():]) == ""
		}
	}
}

// looksNDJSON reports whether body has at least two lines that are JSON objects
// and no other lines. The last line may be cut off.
func looksNDJSON(body string) bool {
	lines := strings.Split(strings.TrimSpace(body), "\n")
	good := 0
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "{") && json.Valid([]byte(line)):
			good++
		case i == len(lines)-1 && good >= 2:
		default:
			return false
		}
	}
	return good >= 2
}
