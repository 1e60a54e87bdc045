package extract_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract"
)

func TestPairTranscripts(t *testing.T) {
	t.Parallel()
	for behaviour, tc := range map[string]struct {
		paths []string
		want  map[int]int
	}{
		"in any order":              {[]string{"talk.vtt", "a.txt", "talk.mp3", "film.mp4", "film.srt"}, map[int]int{2: 0, 3: 4}},
		"in the same folder":        {[]string{"a/talk.mp3", "b/talk.vtt", "talk.srt"}, map[int]int{}},
		"of another case":           {[]string{"Talk.MP3", "Talk.VTT", "talk.srt"}, map[int]int{0: 1}},
		"one for one recording":     {[]string{"talk.mp3", "talk.wav", "talk.vtt", "talk.srt"}, map[int]int{0: 2}},
		"not of other files":        {[]string{"talk.pdf", "talk.vtt", "vtt", "mp3"}, map[int]int{}},
		"names with several points": {[]string{"2024.01.talk.m4a", "2024.01.talk.srt"}, map[int]int{0: 1}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, extract.PairTranscripts(tc.paths)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
