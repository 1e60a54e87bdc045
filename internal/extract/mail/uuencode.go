package mail

import (
	"regexp"
	"strings"

	"github.com/jhillyerd/enmime/v2"
)

// encodedFile begins a file within the text of a message, as programs wrote them before MIME:
// "begin 644 report.txt".
var encodedFile = regexp.MustCompile(`(?m)^begin [0-7]{3,4} (\S[^\r\n]*?)[ \t]*\r?\n`)

// detach takes the files within the text of a part out of it.
func detach(p *enmime.Part, kind string) (files []*enmime.Part) {
	if kind != "text/plain" {
		return nil
	}
	text, from := string(p.Content), 0
	for {
		at := encodedFile.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		name := text[from+at[2] : from+at[3]]
		content, length, ok := uudecode(text[from+at[1]:])
		if !ok {
			from += at[1]
			continue
		}
		file := enmime.NewPart("application/octet-stream")
		file.FileName, file.Disposition, file.Content = name, "attachment", content
		files = append(files, file)
		text = text[:from+at[0]] + text[from+at[1]+length:]
		from += at[0]
	}
	if files != nil {
		p.Content = []byte(text)
	}
	return files
}

// uudecode decodes lines up to the one that says end, and returns the length of all of them in
// bytes. ok is false if they are not such lines.
func uudecode(text string) (content []byte, length int, ok bool) {
	for line := range strings.Lines(text) {
		length += len(line)
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "end" {
			return content, length, len(content) > 0
		}
		if line == "" {
			continue
		}
		count := int(line[0]-' ') & 63
		line = line[1:]
		if size := (count + 2) / 3 * 4; len(line) < size { // mail servers cut off spaces at the end
			line += strings.Repeat(" ", size-len(line))
		}
		for i := 0; count > 0; i += 4 {
			var bits uint32
			for _, c := range []byte(line[i : i+4]) {
				if c < ' ' || c > '`' {
					return nil, 0, false
				}
				bits = bits<<6 | uint32(c-' ')&63
			}
			group := []byte{byte(bits >> 16), byte(bits >> 8), byte(bits)}
			content = append(content, group[:min(count, 3)]...)
			count -= 3
		}
	}
	return nil, 0, false
}
