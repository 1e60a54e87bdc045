package localmodel_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// TestMeanings: each text is nearer to one that shares its meaning than to one that does
// not, though it shares words with neither.
func TestMeanings(t *testing.T) {
	t.Parallel()
	m := localmodel.New(localmodel.Config{})
	for _, test := range []struct{ text, near, far string }{
		{"paid vacation", "days of holiday", "a broken laptop"},
		{"Urlaub", "vacation", "computer"},
		{"Urlaubsantrag", "holiday", "computer"}, // by the parts of the compound
		{"wages", "salary", "bicycle"},
	} {
		v := m.Embed([]string{test.text, test.near, test.far})
		if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near <= far {
			t.Errorf("%q is as near to %q (%.3f) as to %q (%.3f)", test.text, test.near, near, test.far, far)
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestMeaningTable: NOTICE has the hash of the table, which tells where it is from.
func TestMeaningTable(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("meaning.table")
	if err != nil {
		t.Fatal(err)
	}
	notice, err := os.ReadFile(filepath.Join("..", "..", "..", "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(table); !strings.Contains(string(notice), hex.EncodeToString(sum[:])) {
		t.Errorf("NOTICE lacks the SHA-256 of meaning.table, %x: run distill/ and write its hash there", sum)
	}
}
