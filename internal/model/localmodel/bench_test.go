package localmodel_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

func BenchmarkEmbed(b *testing.B) {
	text := strings.Repeat("Every gateway keeps its queue on disk, so a restart of the machine loses no request that was accepted before. ", 20)
	m := localmodel.New(localmodel.Config{})
	texts := []string{text[:1000]}
	for b.Loop() {
		m.Embed(texts)
	}
}
