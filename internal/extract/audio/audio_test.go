package audio_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/audio"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// recording returns a source of silence, one channel of 8,000 samples of a byte a second.
func recording(t *testing.T, seconds int, tools format.Tools) format.Source {
	t.Helper()
	const rate = 8000
	data := make([]byte, 44+seconds*rate)
	header := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"),
		"\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"...)
	copy(data, header)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
	binary.LittleEndian.PutUint32(data[40:], uint32(len(data)-44))
	for i := range data[44:] {
		data[44+i] = 0x80
	}
	path := filepath.Join(t.TempDir(), "recording")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return format.Source{
		Path: path, Folder: t.TempDir(), Kind: "an audio file (WAV)", MediaType: "audio/wav", Size: int64(len(data)), Tools: tools, MoreTime: func() {},
	}
}

// standIn is an ffmpeg that is a shell script.
func standIn(t *testing.T, commands string) format.Tools {
	t.Helper()
	return format.Tools{FFmpeg: extracttest.Script(t, "ffmpeg", commands)}
}

// needFFmpeg skips a test without ffmpeg, or fails it in CI.
func needFFmpeg(t *testing.T, tools format.Tools) {
	t.Helper()
	const reason = "recordings cannot be cut; install ffmpeg (package ffmpeg)"
	switch {
	case tools.FFmpeg != "":
	case os.Getenv("CI") != "":
		t.Fatal(reason)
	default:
		t.Skip(reason)
	}
}

func TestCutNewerRecordings(t *testing.T) {
	t.Parallel()
	for mediaType, arguments := range map[string][]string{
		"video/webm": {"-c:a", "libopus", "-f", "webm"}, "audio/aac": {"-c:a", "aac", "-f", "adts"},
	} {
		t.Run("cuts "+mediaType, func(t *testing.T) {
			t.Parallel()
			s := recording(t, 3, format.FindTools())
			needFFmpeg(t, s.Tools)
			made := filepath.Join(t.TempDir(), "made")
			arguments = append(append([]string{"-v", "error", "-i", s.Path}, arguments...), made)
			if _, err := s.Run(t.Context(), s.Tools.FFmpeg, arguments...); err != nil {
				t.Skip("this ffmpeg cannot write " + mediaType)
			}
			s.Path, s.MediaType = made, mediaType
			if result, err := audio.Cut(t.Context(), s); err != nil || len(result.Assets) != 1 {
				t.Errorf("%d parts, %v", len(result.Assets), err)
			}
			data, err := os.ReadFile(made)
			if err != nil {
				t.Fatal(err)
			}
			for _, damaged := range [][]byte{nil, data[:5], append([]byte("\xff\xf1"), "no recording at all"...)} {
				if err := os.WriteFile(made, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := audio.Cut(t.Context(), s); !knowledge.IsCode(err, knowledge.CodeCorrupt) {
					t.Errorf("%q: %v, want corrupt", damaged, err)
				}
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()

	t.Run("cuts a recording into parts, in their order", func(t *testing.T) {
		t.Parallel()
		tools := format.FindTools()
		needFFmpeg(t, tools)
		s := recording(t, 2*audio.PartSeconds+10, tools)
		result, err := audio.Cut(t.Context(), s)
		if err != nil || len(result.Assets) != 3 {
			t.Fatalf("%d parts, %v", len(result.Assets), err)
		}
		var sizes []int64
		for n, part := range result.Assets {
			info, err := os.Stat(filepath.Join(s.Folder, part.File))
			if err != nil || part.Name != "part-000"+string(rune('0'+n))+".mp3" || part.MediaType != "audio/mpeg" {
				t.Fatalf("part %d: %+v, %v", n, part, err)
			}
			sizes = append(sizes, info.Size())
		}
		second := sizes[0] / audio.PartSeconds // bytes of a second
		if sizes[0] > 25<<20 || sizes[1]/second < audio.PartSeconds-1 || sizes[2]/second < 8 || sizes[2]/second > 12 {
			t.Errorf("the parts have %v bytes", sizes)
		}
	})

	t.Run("without ffmpeg says what to install", func(t *testing.T) {
		t.Parallel()
		_, err := audio.Cut(t.Context(), recording(t, 1, format.Tools{}))
		if !knowledge.IsCode(err, knowledge.CodeNeedsComponent) || !strings.Contains(err.Error(), "apt-get install ffmpeg") {
			t.Error(err)
		}
	})

	t.Run("does not let the recording name other files", func(t *testing.T) {
		t.Parallel()
		s := recording(t, 1, standIn(t, `echo "$@" > arguments; touch part-0000.mp3`))
		if _, err := audio.Cut(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		arguments, err := os.ReadFile(filepath.Join(s.Folder, "arguments"))
		if err != nil || !strings.Contains(string(arguments), "-protocol_whitelist file -f wav -i file:"+s.Path) {
			t.Errorf("run with %s, %v", arguments, err)
		}
	})

	t.Run("converts no more of a recording than it may have", func(t *testing.T) {
		t.Parallel()
		// A small file can hold, or claim, years of silence, which would fill the disk.
		s := recording(t, 1, standIn(t, `echo "$@" > arguments; touch part-0000.mp3`))
		if _, err := audio.Cut(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		arguments, err := os.ReadFile(filepath.Join(s.Folder, "arguments"))
		if _, output, _ := strings.Cut(string(arguments), "file:"+s.Path); err != nil || !strings.Contains(output, " -t 86460 ") {
			t.Errorf("run with %s, %v", arguments, err)
		}
	})

	t.Run("a recording that cannot be decoded is corrupt", func(t *testing.T) {
		t.Parallel()
		_, err := audio.Cut(t.Context(), recording(t, 1, standIn(t, "echo broken >&2; exit 1")))
		if !knowledge.IsCode(err, knowledge.CodeCorrupt) {
			t.Error(err)
		}
	})

	t.Run("a recording of days is too large", func(t *testing.T) {
		t.Parallel()
		_, err := audio.Cut(t.Context(), recording(t, 1, standIn(t, "for n in $(seq 1000 1099); do touch part-$n.mp3; done")))
		if !knowledge.IsCode(err, knowledge.CodeTooLarge) {
			t.Error(err)
		}
	})
}
