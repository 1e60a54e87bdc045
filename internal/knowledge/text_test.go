package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestUnspaced(t *testing.T) {
	t.Parallel()
	for script, text := range map[string]string{"Chinese": "潮汐", "Japanese": "しおシオ", "Thai": "น้ำ", "Lao": "ນ້ຳ", "Khmer": "ទឹក", "Burmese": "ရေ"} {
		for _, r := range text {
			if !knowledge.Unspaced(r) {
				t.Errorf("%s: %q has spaces between words", script, r)
			}
		}
	}
	for _, r := range "tide, Gezeit 1٣ прилив παλίρροια 조수 ज्वार مد" {
		if knowledge.Unspaced(r) {
			t.Errorf("%q has no spaces between words", r)
		}
	}
}
