package transcript_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/transcript"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func cue(start, end float64, speaker, text string) transcript.Cue {
	return transcript.Cue{Time: knowledge.Seconds{Start: start, End: end}, Speaker: speaker, Text: text}
}

func passage(start, end float64, text string) knowledge.Block {
	return knowledge.Block{Kind: knowledge.BlockParagraph, Text: text, Time: knowledge.Seconds{Start: start, End: end}}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	sentence := strings.Repeat("word ", 61) + "end."
	for behaviour, tc := range map[string]struct {
		cues []transcript.Cue
		want []knowledge.Block
	}{
		"cues of one speaker are joined":     {[]transcript.Cue{cue(0, 1, "", "One and"), cue(1, 2, "", " two.\n")}, []knowledge.Block{passage(0, 2, "One and two.")}},
		"speakers are told apart":            {[]transcript.Cue{cue(0, 1, "Ann", "Tea?"), cue(1, 2, "Bob", "Yes."), cue(2, 3, "Bob", "At four.")}, []knowledge.Block{passage(0, 1, "Ann: Tea?"), passage(1, 3, "Bob: Yes. At four.")}},
		"a silence ends a passage":           {[]transcript.Cue{cue(0, 1, "", "One"), cue(4, 5, "", "two")}, []knowledge.Block{passage(0, 1, "One"), passage(4, 5, "two")}},
		"a sentence ends a long passage":     {[]transcript.Cue{cue(0, 1, "", sentence), cue(1, 2, "", "Next.")}, []knowledge.Block{passage(0, 1, sentence), passage(1, 2, "Next.")}},
		"a passage without sentences is cut": {[]transcript.Cue{cue(0, 1, "", sentence[:300]), cue(1, 2, "", sentence[:300]), cue(2, 3, "", "more")}, []knowledge.Block{passage(0, 2, strings.TrimSpace(sentence[:300])+" "+strings.TrimSpace(sentence[:300])), passage(2, 3, "more")}},
		"empty cues are left out":            {[]transcript.Cue{cue(0, 1, "", " "), cue(1, 2, "", "x")}, []knowledge.Block{passage(1, 2, "x")}},
		"nothing is nothing":                 {nil, nil},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, transcript.Blocks(tc.cues), cmpopts.IgnoreFields(knowledge.Block{}, "Speech")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSegments: each cue keeps its time, by its characters in the passage.
func TestSegments(t *testing.T) {
	t.Parallel()
	blocks := transcript.Blocks([]transcript.Cue{cue(0, 1, "Ann", "Thé or"), cue(1.5, 2, "Ann", "cof\x00\tfee?"), cue(2, 3, "Bob", "Tea.")})
	want := []knowledge.Speech{
		{{Start: 5, End: 11, Time: knowledge.Seconds{Start: 0, End: 1}}, {Start: 12, End: 20, Time: knowledge.Seconds{Start: 1.5, End: 2}}},
		{{Start: 5, End: 9, Time: knowledge.Seconds{Start: 2, End: 3}}},
	}
	var got []knowledge.Speech
	for _, b := range blocks {
		got = append(got, b.Speech)
	}
	if diff := cmp.Diff(want, got); diff != "" || blocks[0].Text != "Ann: Thé or cof fee?" {
		t.Errorf("%q%s", blocks[0].Text, diff)
	}
}
