// Package audio cuts recordings that are too large for one request into parts. It does
// not transcribe them: that is a call to a provider, which the parser child never makes.
package audio

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PartSeconds is the length of a part: short enough for every endpoint, of which some
// stop at 1,400 seconds.
const PartSeconds = 1200

// The bounds of a recording.
const (
	maxParts   = 72                        // 24 hours
	maxSeconds = maxParts*PartSeconds + 60 // of what is converted: one part more than there may be shows that it is too long
	cutTimeout = 20 * time.Minute
	noteEvery  = 10 * time.Second
)

// demuxers are the names that ffmpeg has for the containers. It must not guess: some of
// its other formats open files and addresses that the recording names.
var demuxers = map[string]string{
	"audio/mpeg": "mp3", "audio/wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg", "audio/mp4": "mov", "video/mp4": "mov",
	"audio/aac": "aac", "video/webm": "matroska",
}

// Cut cuts the speech of a recording into parts of PartSeconds, as MP3 with one channel.
// The parts are the assets of the result, in their order. Without ffmpeg the error is
// CodeNeedsComponent.
func Cut(ctx context.Context, s format.Source) (format.Result, error) {
	if s.Tools.FFmpeg == "" {
		return format.Result{}, s.Tools.Missing(s.Kind+" of this size", "ffmpeg", "ffmpeg")
	}
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return format.Result{}, fmt.Errorf("find the recording: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cutTimeout)
	defer cancel()
	stop := keepWorking(s.MoreTime)
	_, err = s.Run(ctx, s.Tools.FFmpeg,
		"-nostdin", "-v", "error", "-protocol_whitelist", "file", "-f", demuxers[s.MediaType], "-i", "file:"+path,
		"-map", "0:a:0", "-ac", "1", "-ar", "16000", "-c:a", "libmp3lame", "-b:a", "48k", "-map_metadata", "-1", "-t", strconv.Itoa(maxSeconds),
		"-f", "segment", "-segment_time", strconv.Itoa(PartSeconds), "-reset_timestamps", "1", "part-%04d.mp3")
	stop()
	parts, globErr := filepath.Glob(filepath.Join(s.Folder, "part-*.mp3")) // in the order of their numbers
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return format.Result{}, knowledge.Errorf(knowledge.CodeParseLimit, "converting the recording took longer than %s; split it", cutTimeout)
	case err != nil:
		return format.Result{}, knowledge.Errorf(knowledge.CodeCorrupt, "the recording cannot be decoded; open it, save it again and send the new file").WithCause(err)
	case globErr != nil:
		return format.Result{}, fmt.Errorf("list the parts: %w", globErr)
	case len(parts) > maxParts:
		return format.Result{}, knowledge.Errorf(knowledge.CodeTooLarge, "a recording may have %d hours at most; split it", maxParts*PartSeconds/3600)
	}
	var result format.Result
	for _, part := range parts {
		name := filepath.Base(part)
		result.Assets = append(result.Assets, format.File{Name: name, MediaType: "audio/mpeg", File: name})
	}
	return result, nil
}

// keepWorking starts the time limit of the document again and again while ffmpeg works,
// which cutTimeout bounds. The caller calls stop before it answers.
func keepWorking(moreTime func()) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(noteEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				moreTime()
			}
		}
	}()
	return func() { close(done); <-stopped }
}
