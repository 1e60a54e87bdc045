package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
	"github.com/cairn-rag/cairn/samples"
)

// sampleQuestions are the questions about the samples.
var sampleQuestions = filepath.Join("..", "samples", "questions.jsonl")

// publishSamples publishes the samples among the shared files of a few formats, where these are there.
func (s *server) publishSamples(t *testing.T) {
	t.Helper()
	var files []file
	documents, err := samples.Documents()
	if err == nil {
		err = fs.WalkDir(documents, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := fs.ReadFile(documents, path)
			files = append(files, file{path, content})
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	own := len(files)
	shared := filepath.Join("..", "..", "shared", "data", "files")
	if _, err := os.Stat(shared); err == nil || os.Getenv("CI") != "" { // others have no such files
		for _, format := range []string{"mail", "text", "web"} {
			for _, f := range readFolder(t, filepath.Join(shared, format)) {
				if isRead(f.name, f.content) {
					files = append(files, f)
				}
			}
		}
	}
	for i, d := range s.sendFiles(t, nil, files...) {
		if d = s.ended(t, d); i < own && d.Status != knowledge.StatusPublished {
			t.Fatalf("%s is %s", d.Name, d.Status)
		}
	}
	t.Logf("%d documents beside the %d samples", len(files)-own, own)
}

// scriptedAnswers returns a model that gives each of the questions about the samples the answer that
// was written for it: a right one, or a wrong one.
func scriptedAnswers(t *testing.T, good *atomic.Bool) func(protocol.ChatRequest) modeltest.Reply {
	t.Helper()
	type written struct{ ID, Question, Good, Bad string }
	answers := map[string]written{}
	read := func(path string, into func(written)) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var w written
			if err := json.Unmarshal(line, &w); err != nil {
				t.Fatal(err)
			}
			into(w)
		}
	}
	read(filepath.Join("..", "internal", "evaluate", "testdata", "answers.jsonl"), func(w written) { answers[w.ID] = w })
	var all []written
	read(sampleQuestions, func(w written) {
		all = append(all, written{w.ID, w.Question, answers[w.ID].Good, answers[w.ID].Bad})
	})
	return func(r protocol.ChatRequest) modeltest.Reply {
		for _, message := range r.Messages {
			for _, w := range all {
				if !strings.Contains(string(message.Content), w.Question) {
					continue
				}
				if good.Load() {
					return modeltest.Text(w.Good + " <source_1>")
				}
				return modeltest.Text(w.Bad + " <source_1>")
			}
		}
		return modeltest.Reply{}
	}
}

// evaluateSamples runs the command with the questions about the samples, and returns its exit code and
// the evaluation.
func (s *server) evaluateSamples(t *testing.T, args ...string) (int, evaluation) {
	t.Helper()
	code, out, said := command(t, nil, append([]string{"evaluate", sampleQuestions, "--url", s.ends.API, "--key", s.key}, args...)...)
	var id string
	if _, err := fmt.Sscanf(out, "evaluation %s", &id); err != nil {
		t.Fatalf("it ends with %d:\n%s\n%s", code, out, said)
	}
	t.Logf("%s\n%s", strings.Join(args, " "), out)
	return code, s.evaluated(t, id, "it has ended", hasEnded)
}

// TestSampleQuestionsGate asks the questions about the samples of a scripted model that answers well and
// of one that does not.
func TestSampleQuestionsGate(t *testing.T) {
	t.Parallel()
	var good atomic.Bool
	m := standIn(t, modeltest.Options{Reply: scriptedAnswers(t, &good)})
	s := start(t, at(m.URL())...)
	s.publishSamples(t)
	good.Store(true)
	code, best := s.evaluateSamples(t, "--fail-under", "score=1.6,recall10=0.8")
	if score := best.Scores["score"]; code != 0 || score.N != 60 || score.Low < 1.6 {
		t.Errorf("right answers end with %d, %+v", code, best.Scores)
	}
	good.Store(false)
	code, worst := s.evaluateSamples(t, "--fail-under", "score=1.6", "--baseline", best.ID)
	if score := worst.Scores["score"]; code != 1 || score.N != 60 || score.High > .4 {
		t.Errorf("wrong answers end with %d, %+v", code, worst.Scores)
	}
}

// TestSampleQuestionsOffline asks the questions about the samples of the model that needs no key.
func TestSampleQuestionsOffline(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publishSamples(t)
	code, e := s.evaluateSamples(t, "--fail-under", "recall10=0.8")
	score, recall := e.Scores["score"], e.Scores["recall10"]
	if code != 0 || e.Progress.Judged != 60 || recall.N < 50 || recall.Low < .8 || score.Mean < .8 {
		t.Errorf("it ends with %d, %+v, %+v", code, e.Progress, e.Scores)
	}
	if code, _ := s.evaluateSamples(t, "--fail-under", fmt.Sprintf("score=%.2f", min(2, score.High+.05))); code != 1 {
		t.Errorf("a limit above the interval ends with %d", code)
	}
	if code, _ := s.evaluateSamples(t, "--fail-under", fmt.Sprintf("score=%.2f", score.Mean)); code != 4 {
		t.Errorf("a limit in the interval ends with %d", code)
	}
}
