package script_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/script"
)

func TestSuper(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"6": "⁶", "-6": "⁻⁶", "−6": "⁻⁶", "+": "⁺", "2+": "²⁺", "th": "ᵗʰ", "n": "ⁿ", "i": "ⁱ", "(n+1)": "⁽ⁿ⁺¹⁾",
		"2": "²", "1": "¹", "q": "^q", "1,2": "^(1,2)", "x/2": "^(x/2)", "日": "^日",
		"*": "*", "†": "†", "TM": "ᵀᴹ", "™": "™", "°": "°", "²": "²",
		"": "", " ": " ", " 3 ": " ³ ", "a b": "^(a b)",
	} {
		if got := script.Super(plain); got != want {
			t.Errorf("Super(%q) = %q, want %q", plain, got, want)
		}
	}
}

func TestSub(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"2": "₂", "10": "₁₀", "-1": "₋₁", "i": "ᵢ", "max": "ₘₐₓ", "n+1": "ₙ₊₁",
		"W": "_W", "in,out": "_(in,out)", "*": "_*", "₂": "₂", "": "", "2 ": "₂ ",
	} {
		if got := script.Sub(plain); got != want {
			t.Errorf("Sub(%q) = %q, want %q", plain, got, want)
		}
	}
}
