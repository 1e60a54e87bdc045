package privacy_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/privacy"
)

// BenchmarkFind measures texts of three kinds: prose without personal data, prose in which
// every second sentence has some, and the rows of a bank's statement.
func BenchmarkFind(b *testing.B) {
	prose := "The tenant pays the rent by the third working day of each month, in 2024 as in the years before. Heating is settled once a year, as § 4 of the lease says. "
	var dense strings.Builder
	for _, s := range generate(300) {
		dense.WriteString(prose + s.text + "\n\n")
	}
	row := "| 02.01.2024 | Miete Januar, Objekt 4711 | DE44500105175407324931 | -850,00 |\n"
	for name, text := range map[string]string{
		"prose": strings.Repeat(prose, 1000), "dense": dense.String(), "table": "| Datum | Text | IBAN | Betrag |\n" + strings.Repeat(row, 60),
	} {
		b.Run(name, func(b *testing.B) {
			finder := privacy.NewFinder(nil)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				finder.Find(text)
			}
		})
	}
}
