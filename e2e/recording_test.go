package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// silence is a WAV file of some seconds, with 8,000 samples of a byte each a second.
func silence(seconds int) []byte {
	const rate, header = 8000, 44
	data := make([]byte, header+seconds*rate)
	copy(data, "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
	for i := range 4 {
		data[4+i], data[header-4+i] = byte((len(data)-8)>>(8*i)), byte((len(data)-header)>>(8*i))
	}
	for i := range data[header:] {
		data[header+i] = 0x80
	}
	return data
}

// transcribing points a server at a stand-in model for recordings alone.
func transcribing(m *modeltest.Server) []string {
	return []string{"CAIRN_MODELS__TRANSCRIPTION__BASE_URL=" + m.URL(), "CAIRN_MODELS__TRANSCRIPTION__MODEL=" + modeltest.ModelName}
}

// wantPublished checks that a recording was published.
func (s *server) wantPublished(t *testing.T, id string) {
	t.Helper()
	if d := s.document(t, id); d.Status != knowledge.StatusPublished {
		t.Fatalf("%s is %s, %+v", d.Name, d.Status, d.Error)
	}
}

// TestRecording asks about what is said in a recording: the source of the answer has
// its seconds.
func TestRecording(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	m.ScriptTranscriptions(modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "1"), modeltest.Fail(http.StatusInternalServerError), modeltest.Garbage())
	s := start(t, transcribing(m)...)
	d := s.sendFiles(t, nil, file{"harbour.wav", silence(7)})[0]
	s.ended(t, d)
	s.wantPublished(t, d.ID)

	var answer struct {
		Answer  string
		Sources []struct {
			ChunkID            string
			DocumentName       string
			StartTime, EndTime *float64
			UsedInResponse     bool
		}
	}
	if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "When does the swing bridge open?", "projectId": "default"}, &answer); status != http.StatusOK {
		t.Fatalf("query: status %d", status)
	}
	if len(answer.Sources) != 1 || !strings.Contains(answer.Answer, "at nine") {
		t.Fatalf("answered %+v", answer)
	}
	source := answer.Sources[0]
	if !source.UsedInResponse || source.StartTime == nil || *source.StartTime != 0.5 || source.EndTime == nil || *source.EndTime != 6 {
		t.Errorf("the source is %+v", source)
	}
	var chunk struct {
		StartTime float64 `json:"start_time"`
		EndTime   float64 `json:"end_time"`
		Metadata  struct{ Modality string }
	}
	s.call(t, "GET", "/chunks/"+source.ChunkID, nil, &chunk)
	if chunk.StartTime != 0.5 || chunk.EndTime != 6 || chunk.Metadata.Modality != "audio" {
		t.Errorf("the chunk is %+v", chunk)
	}
	s.call(t, "GET", "/chunks/"+source.ChunkID+"?quote=Ferries+wait", nil, &chunk)
	if chunk.StartTime != 2.75 || chunk.EndTime != 6 {
		t.Errorf("the quotation is %+v", chunk)
	}
	if total := m.Totals().Transcriptions; total.Asked != 4 || total.Answered != 1 {
		t.Errorf("the recording was asked for %d times and answered %d times", total.Asked, total.Answered)
	}
}

// TestRecordingWithoutModel: the document says what to set, and a retry reads it when
// that is set.
func TestRecordingWithoutModel(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "cairn.yaml")
	write := func(text string) {
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log: {level: info}\n")
	s := start(t, "CAIRN_CONFIG="+settings)
	d := s.sendFiles(t, nil, file{"harbour.wav", silence(1)})[0]
	failed := s.wantFailed(t, d, knowledge.StageExtract, knowledge.CodeNeedsComponent)
	if !strings.Contains(failed.Error.Message, "models.transcription") {
		t.Errorf("it says %q", failed.Error.Message)
	}
	const advice = "set models.transcription in the server's configuration, such as {base_url: "
	if _, out, _ := command(t, []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}, "doctor"); !strings.Contains(out, advice) || !strings.Contains(out, "then: cairn documents retry "+d.ID) {
		t.Errorf("doctor does not name the setting:\n%s", out)
	}
	s.stop()
	m := standIn(t, modeltest.Options{})
	write("models: {transcription: {base_url: '" + m.URL() + "', model: " + modeltest.ModelName + "}}\n")
	s.restart()
	again, err := s.RetryDocument(t.Context(), d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), again.RunID, nil); err != nil {
		t.Fatal(err)
	}
	s.wantPublished(t, d.ID)
}

// TestKillDuringTranscription kills the server while the second part of a long recording
// is transcribed. The model is not asked for the first part again.
func TestKillDuringTranscription(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		const what = "this test cuts a long recording; install ffmpeg (package ffmpeg)"
		if os.Getenv("CI") != "" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	m := standIn(t, modeltest.Options{})
	m.ScriptTranscriptions(modeltest.Fail(http.StatusRequestEntityTooLarge), modeltest.Reply{}, modeltest.Hang())
	s := start(t, transcribing(m)...)
	d := s.sendFiles(t, nil, file{"harbour.wav", silence(1260)})[0]
	await(t, time.Minute, "the second part is sent", func(context.Context) error {
		if total := m.Totals().Transcriptions; total.Asked < 3 {
			return fmt.Errorf("%+v", total)
		}
		return nil
	})
	s.kill()
	s.restart()
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	s.wantPublished(t, d.ID)
	answered := 0
	for _, count := range m.Transcriptions() {
		if answered += count.Answered; count.Answered > 1 {
			t.Error("a part was transcribed twice")
		}
	}
	if total := m.Totals().Transcriptions; answered != 2 || total.Asked != 4 {
		t.Errorf("%+v", total)
	}
	var list struct {
		Data []struct {
			EndTime float64 `json:"end_time"`
		}
	}
	res, body := s.raw(t, "GET", "/workspaces/default/documents/"+d.ID+"/chunks", "", nil)
	if err := json.Unmarshal(body, &list); err != nil || len(list.Data) == 0 || list.Data[len(list.Data)-1].EndTime != 1206 {
		t.Errorf("chunks: status %d, %v", res.StatusCode, errors.Join(err, fmt.Errorf("%.300s", body)))
	}
}

// TestRecordingWithTranscript needs no model: the transcript of the same name is read,
// and is no document of its own.
func TestRecordingWithTranscript(t *testing.T) {
	t.Parallel()
	s := start(t)
	mediaType, body := form(t, map[string]string{"externalId": "harbour"},
		file{"harbour.vtt", []byte("WEBVTT\n\n00:12.500 --> 00:15.000\nThe pilot boards at dawn.\n")}, file{"harbour.wav", silence(20)})
	res, answer := s.raw(t, "POST", filesRoute, mediaType, body)
	var taken struct{ Documents []client.Document }
	if decode(t, answer, &taken); res.StatusCode != http.StatusAccepted || len(taken.Documents) != 1 || taken.Documents[0].Name != "harbour.wav" {
		t.Fatalf("status %d, %.300s", res.StatusCode, answer)
	}
	if _, err := s.Wait(t.Context(), res.Header.Get("Cairn-Run-Id"), nil); err != nil {
		t.Fatal(err)
	}
	s.wantPublished(t, taken.Documents[0].ID)
	found, err := s.retrieve(t.Context(), "When does the pilot board?", "pilot")
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	var chunk struct {
		StartTime float64 `json:"start_time"`
		EndTime   float64 `json:"end_time"`
	}
	if s.call(t, "GET", "/chunks/"+found[0].ID, nil, &chunk); chunk.StartTime != 12.5 || chunk.EndTime != 15 {
		t.Errorf("the chunk is %+v", chunk)
	}
}
