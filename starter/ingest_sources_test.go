package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTranscriptsAreSentWithTheirRecordings: they are no documents of their own.
func TestTranscriptsAreSentWithTheirRecordings(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, "talk.mp3", "talk.vtt", "other/talk.srt", "film.mp4")
	found, err := gather([]source{source(dir)}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range found.entries {
		if got[e.name] = "none"; e.transcript != nil {
			got[e.name] = e.transcript.Name
		}
	}
	if diff := cmp.Diff(map[string]string{"talk.mp3": "talk.vtt", "other/talk.srt": "none", "film.mp4": "none"}, got); diff != "" {
		t.Error(diff)
	}
}
