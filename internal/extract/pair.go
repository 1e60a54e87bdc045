package extract

import (
	"path"
	"slices"
	"strings"
)

// PairTranscripts returns the place of the transcript for the place of each recording
// that has one among the paths: talk.vtt or talk.srt in the folder of talk.mp3. The names
// alone count.
func PairTranscripts(paths []string) map[int]int {
	transcripts := map[string]int{} // by the path without its extension
	for i, p := range paths {
		stem, kind := stemAndKind(p)
		if _, another := transcripts[stem]; !another && IsTranscript(kind) {
			transcripts[stem] = i
		}
	}
	pairs := map[int]int{}
	for i, p := range paths {
		stem, kind := stemAndKind(p)
		if place, ok := transcripts[stem]; ok && IsSpeech(kind) {
			pairs[i] = place
			delete(transcripts, stem) // one recording has it
		}
	}
	return pairs
}

// stemAndKind returns a path without its extension, and the media type of the extension.
func stemAndKind(p string) (stem, mediaType string) {
	ext := path.Ext(p)
	lower := strings.TrimPrefix(strings.ToLower(ext), ".")
	i := slices.IndexFunc(formats, func(f Format) bool { return slices.Contains(f.Extensions, lower) })
	if i < 0 {
		return p, ""
	}
	return strings.TrimSuffix(p, ext), formats[i].MediaType
}
