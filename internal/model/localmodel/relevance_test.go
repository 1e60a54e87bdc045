package localmodel_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// station is a prompt with sentences and rows about the same things.
const station = `<source_1 document="register.csv">
gauge | river | crew | holiday cover | fault
G-11 | Danube | Hofer | none | E02
G-12 | Danube | Munro | Tavares | E07
G-13 | Elbe | Brekke | Munro | E02
</source_1>
<source_2 document="handbook.md">
## Holidays

Everybody has 27 days of holiday. At least two weeks in a row are taken in summer.

## Wet packs

A gauge that reports fault E02 has water in its housing. Recover it at once and tell the duty officer.
Wet packs are never carried in a closed car.
</source_2>
<source_3 document="travel.md">
Travel in Europe is by train where it takes less than nine hours. Meals are paid by receipt.
</source_3>`

func TestRelevance(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		question string
		want     string // beginning of the answer
		holds    []string
	}{
		"a sentence comes before rows with the same words": {
			"How many days of holiday does everybody get?", "Everybody has 27 days of holiday. <source_2>", nil},
		"rows answer where no sentence does": {
			"Which crew looks after gauge G-12 on the Danube?", "gauge: G-1", []string{"gauge: G-12, river: Danube, crew: Munro"}},
		"a question of many parts is answered from sentences that each speak of one": {
			"Explain in detail what the crew has to do when a gauge reports fault E02, how lithium packs that met sea water are transported afterwards, and who must be informed by whom.",
			"", []string{"A gauge that reports fault E02 has water in its housing. <source_2> Recover it at once and tell the duty officer. <source_2>",
				"Wet packs are never carried in a closed car. <source_2>"}},
		"a long question that shares a telling phrase is answered": {
			"I wonder, before booking anything for the conference in Vienna next month, whether travel in Europe goes by train or by aeroplane here?",
			"Travel in Europe is by train where it takes less than nine hours. <source_3>", nil},
		"a long question that shares one word is not answered": {
			"How does photosynthesis turn light and water into sugar, which organisms do it, and when did it begin?", nothing, nil},
		"a long question that shares only common words is not answered": {
			"What different systems of government do people form, and how many have changed in less than nine years?", nothing, nil},
		"a question on something else is not answered": {"What is the population of Tokyo?", nothing, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := answer(t, []model.Message{{Role: model.RoleSystem, Content: station}, {Role: model.RoleUser, Content: test.question}})
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %q\nwant %q first", got, test.want)
			}
			for _, s := range test.holds {
				if !strings.Contains(got, s) {
					t.Errorf("%q\nlacks %q", got, s)
				}
			}
		})
	}
}
