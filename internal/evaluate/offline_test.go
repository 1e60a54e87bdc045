package evaluate_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

func TestJudgeScoresAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, reference, answer string
		score                       float64
	}{
		{"How many days of holiday are there?", "27 days of holiday.", "Everybody has 27 days of holiday.", 2},
		{"How many days of holiday are there?", "27 days of holiday.", "Everybody has 25 days of holiday.", 0},
		{"How many days of holiday are there?", "27 days of holiday.", "Holidays are announced in March.", 0},
		{"What does the repair cost?", "1,234.50 EUR", "The repair costs 1.234,5 €.", 2},
		{"How long is the warranty?", "24 months, on batteries six months.", "The warranty lasts two years.", 1.5},
		{"How long is the warranty?", "24 months, on batteries six months.", "It lasts two years, on batteries 6 months.", 2},
		{"When was it calibrated?", "On 2 October 2024.", "It was calibrated on 2024-10-02.", 2},
		{"When was it calibrated?", "On 2 October 2024.", "It was calibrated on 3 October 2024.", 0},
		{"May the faces be scrubbed?", "No, the faces are never scrubbed.", "Yes, the faces are scrubbed every week.", 0},
		{"May the faces be scrubbed?", "No, the faces are never scrubbed.", "No, never scrub the faces.", 2},
		{"Who founded it?", "Ingrid Solberg and Per Aune.", "The documents do not contain an answer to this question.", 0},
		{"Wie viele Urlaubstage gibt es?", "27 Tage im Jahr.", "Alle haben 27 Tage Urlaub im Jahr.", 2},
		{"Wie viele Urlaubstage gibt es?", "27 Tage im Jahr.", "Alle haben 72 Tage Urlaub im Jahr.", 0},
		{"Was kostet die Kalibrierung?", "Die Kalibrierung kostet 1.180 Euro.", "Eine Kalibrierung kostet 1180 EUR.", 2},
		{"Darf das Gehäuse geöffnet werden?", "Das Gehäuse darf nicht geöffnet werden.", "Das Gehäuse darf jederzeit geöffnet werden.", 0},
		{"Darf das Gehäuse geöffnet werden?", "Das Gehäuse darf nicht geöffnet werden.", "Nein, das Gehäuse darf nicht geöffnet werden, auch nicht kurz.", 2},
		{"Darf das Gehäuse geöffnet werden?", "Das Gehäuse darf nicht geöffnet werden.", "Nein, das Gehäuse darf man nicht öffnen.", 2},
		{"Darf das Gehäuse geöffnet werden?", "Das Gehäuse darf nicht geöffnet werden.", "Man darf das Gehäuse öffnen.", 0},
		{"Was wird an der Pumpe gewechselt?", "Die Dichtungen und Lager der Pumpe.", "Man wechselt die Dichtung und das Lager.", 2},
		{"Wer gründete die Firma?", "Ingrid Solberg und Per Aune.", "Die Dokumente enthalten keine Antwort auf diese Frage.", 0},
		{"When can one be reached?", "Between 10 and 14 o'clock on weekdays.", "A repair takes ten working days.", 0},
		{"When is a team searched for?", "One hour after the agreed time, if it has not called.", "A team that has not called one hour after the agreed time is looked for.", 2},
		{"May somebody work alone?", "No, nobody works on the water alone: a field team has at least two people.", "Nobody works on the water alone.", 1.5},
		{"May wet packs be carried in a car?", "Wet packs are never carried in a closed car; they go into the steel drum with sand.", "Wet packs are never carried in a closed car.", 1.5},
		{"What does it cost?", "1,180 EUR", "You pay 1.180 euros.", 2},
		{"¿Qué duración tiene la garantía?", "La garantía dura 36 meses.", "La garantía dura 36 meses desde la entrega.", 2},
	} {
		j := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: c.question, Reference: c.reference}, Answer: c.answer})
		if j.Score == nil || *j.Score != c.score {
			got := "nothing"
			if j.Score != nil {
				got = fmtScore(*j.Score)
			}
			t.Errorf("%q beside %q scores %s (%s), want %s", c.answer, c.reference, got, j.Reason, fmtScore(c.score))
		}
	}
}

func TestJudgeUnanswerable(t *testing.T) {
	t.Parallel()
	item := evaluate.Item{Question: "What is the salary?", Kind: evaluate.KindUnanswerable}
	for answer, want := range map[string]float64{
		"The documents do not contain an answer to this question.":        2,
		"I could not find information about salaries.":                    2,
		"In den Unterlagen steht keine Angabe dazu: keine Informationen.": 2,
		"":                             2,
		"The salary is 50,000 kroner.": 0,
		"The salary is 50,000 kroner. It is paid in May. Tax is taken off. No information is given about a bonus.": 0,
	} {
		j := evaluate.Judge(evaluate.Case{Item: item, Answer: answer})
		if j.Score == nil || *j.Score != want || j.Context != nil {
			t.Errorf("%q: %+v, want %v", answer, j, want)
		}
	}
	if j := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: "Who?"}, Answer: "Somebody works here."}); j.Score != nil {
		t.Errorf("an item without a reference is scored: %+v", j)
	}
}

func TestJudgeContext(t *testing.T) {
	t.Parallel()
	handbook := evaluate.Passage{ChunkID: "c1", DocumentID: "d1", ExternalID: "handbook.md", Text: "Everybody has 27 days of holiday. Tell your group by the end of March."}
	table := evaluate.Passage{ChunkID: "c2", DocumentID: "d2", ExternalID: "manual.pdf", Header: "| Where | Interval |\n| --- | --- |", Text: "| Fjord or coast | 18 months |\n| Open sea | 24 months |"}
	for _, c := range []struct {
		name     string
		item     evaluate.Item
		passages []evaluate.Passage
		context  float64
	}{
		{"all of it", evaluate.Item{Question: "How many days of holiday?", Reference: "27 days.", ExpectedDocuments: []string{"handbook.md"}}, []evaluate.Passage{table, handbook}, 2},
		{"a row of a table", evaluate.Item{Question: "What is the interval in a fjord?", Reference: "18 months."}, []evaluate.Passage{handbook, table}, 2},
		{"another document", evaluate.Item{Question: "How many days of holiday?", Reference: "27 days.", ExpectedDocuments: []string{"rules.md"}}, []evaluate.Passage{handbook}, 1.5},
		{"a part", evaluate.Item{Question: "What about holidays?", Reference: "27 days of holiday. Unused days are paid."}, []evaluate.Passage{handbook}, 1.5},
		{"the document without the passage", evaluate.Item{Question: "What is eaten at noon?", Reference: "Soup with bread.", ExpectedDocuments: []string{"handbook.md"}}, []evaluate.Passage{handbook}, 0},
		{"nothing", evaluate.Item{Question: "How many days of holiday?", Reference: "27 days."}, nil, 0},
		{"documents alone", evaluate.Item{Question: "Holiday?", ExpectedDocuments: []string{"d1", "manual.pdf"}}, []evaluate.Passage{handbook}, 1.5},
		{"rows without their header", evaluate.Item{Question: "When is X-2 due?", Reference: "2026-04-16"}, []evaluate.Passage{{Text: "| X-2 | pass | 2026-04-16 |\n| X-3 | pass | 2026-05-16 |"}}, 2},
		{"a header with years", evaluate.Item{Question: "What was the rent in 2024?", Reference: "The rent was 900 EUR."}, []evaluate.Passage{{Text: "| Cost | 2023 | 2024 |\n|---|---|---|\n| Rent | 800 EUR | 900 EUR |"}}, 2},
		{"all documents", evaluate.Item{Question: "Holiday?", ExpectedDocuments: []string{"d1", "manual.pdf"}}, []evaluate.Passage{handbook, table}, 2},
	} {
		j := evaluate.Judge(evaluate.Case{Item: c.item, Answer: "Something else.", Passages: c.passages})
		if j.Context == nil || *j.Context != c.context {
			t.Errorf("%s: %+v, want %v", c.name, j, c.context)
		}
	}
}

func TestJudgeFaithfulness(t *testing.T) {
	t.Parallel()
	passages := []evaluate.Passage{
		{ChunkID: "w", DocumentID: "d1", Heading: "How long the warranty lasts", Text: "The warranty on the HX-4 and on the HX-Profiler lasts 36 months from the day of delivery. On the Tarn water level gauge it lasts 60 months. Transducer heads are covered for 24 months, because they wear."},
		{ChunkID: "c", DocumentID: "d2", Text: "Records taken with an unset clock cannot be repaired afterwards."},
		{ChunkID: "t", DocumentID: "d3", Header: "| Where it is used | Interval |\n|---|---|", Text: "| Fjord or coast | 18 months |\n| Open sea | 24 months |"},
		{ChunkID: "g", DocumentID: "d4", Text: "Das Gehäuse darf nur in der Werkstatt geöffnet werden. Die Dichtung wird alle 12 Monate gewechselt."},
	}
	passages = append(passages, evaluate.Passage{ChunkID: "p", DocumentID: "d5", Text: "| Service | HX-4 | HX-Profiler |\n|---|---|---|\n| Calibration by a service partner | 890 EUR | not offered |"})
	cite := func(chunk string) string { return ` <citation id="` + chunk + `">[1]</citation>` }
	for _, c := range []struct {
		answer string
		want   evaluate.Support
	}{
		{"The warranty on the HX-4 lasts 36 months." + cite("w"), evaluate.Supported},
		{"The warranty on the HX-4 lasts three years from delivery." + cite("w"), evaluate.Supported},
		{"The warranty on the HX-4 lasts 48 months." + cite("w"), evaluate.Contradicted},
		{"Transducer heads are covered for 36 months." + cite("w"), evaluate.Contradicted},
		{"Transducer heads are covered for 24 months" + cite("w") + ".", evaluate.Supported},
		{"The warranty covers theft and fire on every continent." + cite("w"), evaluate.NotFound},
		{"Records taken with an unset clock can be repaired." + cite("c"), evaluate.Contradicted},
		{"Records taken with an unset clock cannot be repaired." + cite("c"), evaluate.Supported},
		{"Records taken with an unset clock cannot be repaired." + cite("w"), evaluate.NotFound},
		{"Records taken with an unset clock cannot be repaired.", evaluate.Supported},
		{"Records taken with an unset clock cannot be repaired." + cite("unknown"), evaluate.NotFound},
		{"In a fjord the interval is 18 months." + cite("t"), evaluate.Supported},
		{"In a fjord the interval is 30 months." + cite("t"), evaluate.Contradicted},
		{"Service: Calibration by a service partner, HX-4: 890 EUR." + cite("p"), evaluate.Supported},
		{"Service: Calibration by a service partner, HX-4: 980 EUR." + cite("p"), evaluate.Contradicted},
		{"Die Dichtung wird alle 12 Monate gewechselt." + cite("g"), evaluate.Supported},
		{"Die Dichtung wird alle zwölf Monate gewechselt." + cite("g"), evaluate.Supported},
		{"Die Dichtung wird alle 6 Monate gewechselt." + cite("g"), evaluate.Contradicted},
		{"Die Dichtung wird nie gewechselt." + cite("g"), evaluate.Contradicted},
	} {
		j := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: "How long?"}, Answer: c.answer, Passages: passages})
		if len(j.Sentences) != 1 || j.Sentences[0].Support != c.want {
			t.Errorf("%q: %+v, want %s", c.answer, j.Sentences, c.want)
		}
	}
}

func TestJudgeCutsAnswersIntoSentences(t *testing.T) {
	t.Parallel()
	answer := "What follows is short:\n\n- Lamps are red on weekdays. <citation id=\"a\">[1]</citation> <citation id=\"b\">[2]</citation>\n" +
		"- Doors, e.g. those of the hall, are blue <citation id=\"b\">[2]</citation>.\n\nIs that all? Windows have 4 panes."
	j := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: "Colours?"}, Answer: answer, Passages: []evaluate.Passage{
		{ChunkID: "a", Text: "Lamps are red on weekdays."}, {ChunkID: "b", Text: "Doors of the hall are blue. Windows have 4 panes."},
	}})
	if len(j.Sentences) != 3 || j.Faithfulness == nil || *j.Faithfulness != 1 {
		t.Fatalf("the sentences are %+v", j.Sentences)
	}
	for i, want := range []evaluate.Sentence{{Text: "Lamps are red on weekdays.", Chunks: []string{"a", "b"}}, {Text: "Doors, e.g. those of the hall, are blue.", Chunks: []string{"b"}}, {Text: "Windows have 4 panes."}} {
		if got := j.Sentences[i]; got.Text != want.Text || len(got.Chunks) != len(want.Chunks) {
			t.Errorf("sentence %d is %+v, want %+v", i+1, got, want)
		}
	}
	rows := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: "Which?"}, Answer: "serial: X-1, result: pass. <citation id=\"a\">[1]</citation> serial: X-2, next_due: 2026-04-16. Lamps are red."})
	if len(rows.Sentences) != 3 || len(rows.Sentences[0].Chunks) != 1 || len(rows.Sentences[1].Chunks) != 0 {
		t.Errorf("rows of a table are the sentences %+v", rows.Sentences)
	}
	given := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: "Which?"}, Answer: "Lamps are red. <citation id=\"g\">[1]</citation> Doors are blue. <web_citation url=\"https://a.test/\" title=\"A\">[2]</web_citation>",
		Passages: []evaluate.Passage{{ChunkID: "g", URL: "https://given.test/", Text: "All lamps are red."}, {URL: "https://a.test/", Text: "All doors are blue."}}})
	if given.Faithfulness == nil || *given.Faithfulness != 1 {
		t.Errorf("a chunk with an address and a page of the web: %+v", given)
	}
	refusal := evaluate.Judge(evaluate.Case{Item: evaluate.Item{Question: "Colours?"}, Answer: "The documents do not contain an answer to this question.", Passages: []evaluate.Passage{{ChunkID: "a", Text: "x"}}})
	if refusal.Faithfulness != nil || len(refusal.Sentences) > 0 {
		t.Errorf("a refusal is judged as faithful or not: %+v", refusal)
	}
}
