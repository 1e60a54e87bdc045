package modeltest_test

import (
	"strconv"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// BenchmarkChat streams an answer of 60 words; the time is the time of client
// and server together.
func BenchmarkChat(b *testing.B) {
	s := modeltest.New(modeltest.Options{Tokens: 60})
	defer s.Close()
	c := model.New(s.Endpoint(), nil)
	for b.Loop() {
		if _, _, err := modeltest.Collect(b.Context(), c, question("x")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEmbed embeds batches of 64 short texts; the time is the time of
// client and server together.
func BenchmarkEmbed(b *testing.B) {
	s := modeltest.New(modeltest.Options{})
	defer s.Close()
	c := model.New(s.Endpoint(), nil)
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = "text number " + strconv.Itoa(i)
	}
	for b.Loop() {
		if _, _, err := c.Embed(b.Context(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
