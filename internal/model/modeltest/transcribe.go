package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// maxRecording bounds a recording that is sent to the server, in bytes.
const maxRecording = 128 << 20

// ScriptTranscriptions appends replies to the script for transcriptions, one for each
// request. Only the fields Status, Header, Body, Hang, Garbage, Empty and Delay apply.
func (s *Server) ScriptTranscriptions(replies ...Reply) {
	s.update(func() { s.recordingScript = append(s.recordingScript, replies...) })
}

// Transcriptions returns the counts of recordings, by RecordingKey.
func (s *Server) Transcriptions() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.recordings)
}

// RecordingKey returns the key of a recording in Transcriptions.
func RecordingKey(recording []byte) string {
	sum := sha256.Sum256(recording)
	return hex.EncodeToString(sum[:])
}

// Heard answers a transcription with segments, in the shape of verbose_json.
func Heard(language string, duration float64, segments ...model.Speech) Reply {
	var text string
	for _, segment := range segments {
		text += segment.Text
	}
	body, err := json.Marshal(map[string]any{
		"task": "transcribe", "language": language, "duration": duration, "text": text, "segments": segments,
	})
	if err != nil {
		panic("modeltest: encode a transcript: " + err.Error())
	}
	return Reply{Status: http.StatusOK, Body: string(body)}
}

// usualTranscript is the answer without a script.
func usualTranscript() Reply {
	return Heard("english", 6.5,
		model.Speech{Start: 0.5, End: 2.75, Text: " The swing bridge opens at nine."},
		model.Speech{Start: 2.75, End: 6, Text: " Ferries wait for the pilot."})
}

func (s *Server) serveTranscription(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRecording)
	upload, header, err := r.FormFile("file")
	if err != nil || header.Filename == "" || r.FormValue("model") == "" || r.FormValue("response_format") != "verbose_json" {
		protocol.WriteError(w, &protocol.Error{Status: http.StatusBadRequest, Message: "file, model and response_format=verbose_json are required"})
		return
	}
	defer upload.Close()
	recording, err := io.ReadAll(upload)
	if err != nil {
		return // the client has disconnected
	}
	key := RecordingKey(recording)
	var reply Reply
	s.update(func() {
		reply = nextReply(&s.recordingScript)
		bump(s.recordings, key, &s.totals.Transcriptions, 1, 0)
	})
	if reply.Status == 0 && !reply.Hang && !reply.Garbage && !reply.Empty {
		delay := reply.Delay
		reply = usualTranscript()
		reply.Delay = delay
	}
	s.misbehave(w, r, reply)
	if reply.Status == http.StatusOK && http.NewResponseController(w).Flush() == nil && r.Context().Err() == nil {
		s.update(func() { bump(s.recordings, key, &s.totals.Transcriptions, 0, 1) })
	}
}
