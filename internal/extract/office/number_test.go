package office_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/office"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n      int
		format string
		want   string
	}{
		{3, "decimal", "3"}, {3, "chineseCounting", "3"}, {3, "decimalZero", "03"}, {3, "lowerLetter", "c"}, {28, "upperLetter", "BB"}, {0, "a", "0"},
		{4, "lowerRoman", "iv"}, {1994, "I", "MCMXCIV"}, {5000, "I", "5000"}, {11, "ordinal", "11th"}, {22, "ordinal", "22nd"}, {3, "bullet", ""},
	} {
		if got := office.Number(tc.n, tc.format); got != tc.want {
			t.Errorf("%d as %s is %q, want %q", tc.n, tc.format, got, tc.want)
		}
	}
}

func TestColumnName(t *testing.T) {
	t.Parallel()
	for column, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 701: "ZZ", 702: "AAA", 16383: "XFD"} {
		if got := office.ColumnName(column); got != want {
			t.Errorf("column %d is %q, want %q", column, got, want)
		}
	}
}
