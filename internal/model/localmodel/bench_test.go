package localmodel_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// prose returns about n characters of text with few repeated words.
func prose(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString("Gateway" + strconv.Itoa(i%7) + " keeps its queue" + strconv.Itoa(i) + " on a disk near rack" + strconv.Itoa(i*7%50) + ", so no restart loses requests. ")
	}
	return b.String()[:n]
}

func BenchmarkEmbed(b *testing.B) {
	m := localmodel.New(localmodel.Config{})
	texts := []string{prose(1000)}
	b.ReportAllocs()
	for b.Loop() {
		m.Embed(texts)
	}
}

// BenchmarkChat answers a prompt of eight passages of a thousand characters.
func BenchmarkChat(b *testing.B) {
	passages := make([]string, 8)
	for i := range passages {
		passages[i] = prose(1000)
	}
	benchmarkChat(b, passages, "Where does gateway 3 keep its queue?")
}

// BenchmarkChatByMeaning answers a question in other words than the passages, of which no
// two are the same.
func BenchmarkChatByMeaning(b *testing.B) { benchmarkChat(b, paraphrases(b), "May I bring my pet?") }

// BenchmarkCompareWords compares a question with four passages of a thousand characters, of
// which no two are the same.
func BenchmarkCompareWords(b *testing.B) {
	passages := paraphrases(b)[:4]
	b.ReportAllocs()
	for b.Loop() {
		localmodel.CompareWords("How many days of vacation does an employee get in a year?", passages, 1)
	}
}

// paraphrases returns passages of some thousand characters.
func paraphrases(b *testing.B) (passages []string) {
	b.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "retrieve", "testdata", "paraphrases", "english.txt"))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "p ")
		if n := len(passages) - 1; ok && n >= 0 && len(passages[n]) < 1000 {
			passages[n] += " " + text
		} else if ok {
			passages = append(passages, text)
		}
	}
	return passages
}

func benchmarkChat(b *testing.B, passages []string, question string) {
	b.Helper()
	var prompt strings.Builder
	for i, text := range passages {
		prompt.WriteString("<source_" + strconv.Itoa(i+1) + " document=\"a.md\" heading=\"Gateways > Queues\">\n" + text + "\n</source_" + strconv.Itoa(i+1) + ">\n")
	}
	system, err := json.Marshal(prompt.String())
	if err != nil {
		b.Fatal(err)
	}
	body := `{"model":"cairn-offline","stream":true,"messages":[{"role":"system","content":` + string(system) + `},{"role":"user","content":"` + question + `"}]}`
	handler := localmodel.New(localmodel.Config{}).Handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
