// Package subtitle reads subtitles, WebVTT and SubRip, as the transcript of speech.
package subtitle

import (
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/transcript"
)

// Read returns the layout of subtitles. Text in neither format is CodeCorrupt.
func Read(text string) (knowledge.Layout, error) {
	r := reader{}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		r.line(strings.TrimSpace(line), number)
	}
	r.end()
	if len(r.cues) == 0 {
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeCorrupt, "there is no subtitle in the file; send a file in WebVTT or SubRip")
	}
	return knowledge.Layout{Title: r.title, Modality: knowledge.ModalityAudio, Blocks: transcript.Blocks(r.cues)}, nil
}

// reader collects cues line by line.
type reader struct {
	title string
	cues  []transcript.Cue
	open  bool // a cue is open
	time  knowledge.Seconds
	first int      // line of its time
	last  int      // line of its last text
	lines []string // of the open cue
	said  []string // lines of the cue before it
}

var timing = regexp.MustCompile(`^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s|$)`)

// line takes the next line of the file.
func (r *reader) line(line string, number int) {
	found := timing.FindStringSubmatch(line)
	switch {
	case number == 1 && strings.HasPrefix(line, "WEBVTT"):
		_, r.title, _ = strings.Cut(line, " - ")
	case found != nil:
		r.end()
		r.open, r.first, r.last = true, number, number
		r.time = knowledge.Seconds{Start: seconds(found[1]), End: seconds(found[2])}
	case line == "":
		r.end()
	case r.open:
		r.lines, r.last = append(r.lines, line), number
	}
}

// seconds returns a time such as 1:02:03.500 in seconds.
func seconds(s string) float64 {
	total := 0.0
	for part := range strings.SplitSeq(strings.Replace(s, ",", ".", 1), ":") {
		value, _ := strconv.ParseFloat(part, 64) // the pattern allows digits only
		total = total*60 + value
	}
	return total
}

// end ends the open cue.
func (r *reader) end() {
	if !r.open {
		return
	}
	r.open = false
	lines := r.lines
	r.lines = nil
	fresh := withoutRepetition(r.said, lines)
	r.said = lines
	r.cues = append(r.cues, transcript.Cue{
		Time: r.time, Speaker: speaker(lines), Text: plain(strings.Join(fresh, " ")), Origin: knowledge.Origin{First: r.first, Last: r.last},
	})
}

// withoutRepetition returns the lines of a cue without those at its beginning with
// which the cue before it ended: captions that roll show each line twice.
func withoutRepetition(before, lines []string) []string {
	for n := min(len(before), len(lines)); n > 0; n-- {
		same := true
		for i := range n {
			same = same && plain(before[len(before)-n+i]) == plain(lines[i])
		}
		if same {
			return lines[n:]
		}
	}
	return lines
}

var (
	voice = regexp.MustCompile(`^<v(?:\.[^\s>]*)?\s+([^>]+)>`)
	tag   = regexp.MustCompile(`</?[A-Za-z0-9][^<>]*>|</?>|\{\\[^{}]*\}`)
)

// speaker returns the name in the voice tag of a cue, "" if it has none.
func speaker(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	found := voice.FindStringSubmatch(lines[0])
	if found == nil {
		return ""
	}
	return strings.TrimSpace(html.UnescapeString(found[1]))
}

// plain returns the text of a line without tags and references.
func plain(s string) string { return html.UnescapeString(tag.ReplaceAllString(s, "")) }
