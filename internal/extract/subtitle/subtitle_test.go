package subtitle_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/subtitle"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func passage(first, last int, start, end float64, text string) knowledge.Block {
	return knowledge.Block{
		Kind: knowledge.BlockParagraph, Text: text, Time: knowledge.Seconds{Start: start, End: end}, Origin: knowledge.Origin{First: first, Last: last},
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for behaviour, tc := range map[string]struct {
		text  string
		title string
		want  []knowledge.Block
	}{
		"WebVTT": {"WEBVTT - Tea for two\nKind: captions\n\nNOTE nobody says this\n\nSTYLE\n::cue { color: red }\n\nintro\n00:01.500 --> 00:04.000 align:start\n- <b>Tea</b> &amp; cake?\n\n01:00:05.000 --> 01:00:06.250\nYes.\n",
			"Tea for two", []knowledge.Block{passage(10, 11, 1.5, 4, "- Tea & cake?"), passage(13, 14, 3605, 3606.25, "Yes.")}},
		"SubRip": {"1\n00:00:01,000 --> 00:00:02,000 X1:10\n{\\an8}<i>One\nline</i>\n\n2\n00:00:02,000 --> 00:00:03,500\n3 < 4 & 5\n",
			"", []knowledge.Block{passage(2, 8, 1, 3.5, "One line 3 < 4 & 5")}},
		"speakers": {"WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ann Lee>Tea?</v>\n\n00:01.000 --> 00:02.000\n<v.loud Bob>Yes, <00:01.500>please.</v>\n",
			"", []knowledge.Block{passage(3, 4, 0, 1, "Ann Lee: Tea?"), passage(6, 7, 1, 2, "Bob: Yes, please.")}},
		"captions that roll": {"WEBVTT\n\n00:00.000 --> 00:01.000\nwe open\n\n00:01.000 --> 00:02.000\nwe open\nthe bridge\n\n00:02.000 --> 00:03.000\nthe bridge\ntoday\n",
			"", []knowledge.Block{passage(3, 12, 0, 3, "we open the bridge today")}},
		"line ends of Windows": {"WEBVTT\r\n\r\n00:00.000 --> 00:01.000\r\nHello\r\n", "", []knowledge.Block{passage(3, 4, 0, 1, "Hello")}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := subtitle.Read(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(knowledge.Layout{Title: tc.title, Modality: knowledge.ModalityAudio, Blocks: tc.want}, got, cmpopts.IgnoreFields(knowledge.Block{}, "Speech")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilesWithoutSubtitles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"WEBVTT\n", "WEBVTT\n\nNOTE nothing\n", "1\n00:00:01,000 -> 00:00:02,000\nx\n", strings.Repeat("<", 1000)} {
		if _, err := subtitle.Read(text); !knowledge.IsCode(err, knowledge.CodeCorrupt) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("WEBVTT\n\n00:00.000 --> 00:01.000\n<v Ann>x</v>\n")
	f.Fuzz(func(t *testing.T, text string) {
		layout, err := subtitle.Read(text)
		if err != nil && !knowledge.IsCode(err, knowledge.CodeCorrupt) {
			t.Error(err)
		}
		for _, b := range layout.Blocks {
			if strings.TrimSpace(b.Text) == "" || b.Time.Start < 0 {
				t.Errorf("block %+v", b)
			}
		}
	})
}
