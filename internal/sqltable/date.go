package sqltable

import (
	"strings"
	"time"
)

// dateForm is a way to write dates, and how they stand in the table.
type dateForm struct {
	layout, as string
	// other is a way in which the same text means another date, so that only a date that fits
	// one of them tells which is meant.
	other string
}

const (
	isoDate = time.DateOnly
	isoTime = time.DateTime
)

// dateForms are the ways to write dates that are read. A column has one of them.
func dateForms() []dateForm {
	return []dateForm{
		{time.DateOnly, isoDate, ""}, {time.DateTime, isoTime, ""}, {"2006-01-02 15:04", isoTime, ""}, {"2006-01-02T15:04:05", isoTime, ""}, {time.RFC3339, isoTime, ""},
		{"2.1.2006", isoDate, ""}, {"2.1.06", isoDate, ""}, {"2.1.2006 15:04", isoTime, ""}, {"2.1.2006 15:04:05", isoTime, ""}, {"2006/1/2", isoDate, ""},
		{"1/2/2006", isoDate, "2/1/2006"}, {"2/1/2006", isoDate, "1/2/2006"},
		{"1/2/06", isoDate, "2/1/06"}, {"2/1/06", isoDate, "1/2/06"}, {"1/2/2006 15:04", isoTime, "2/1/2006 15:04"}, {"2/1/2006 15:04", isoTime, "1/2/2006 15:04"},
		{"1-2-2006", isoDate, "2-1-2006"}, {"2-1-2006", isoDate, "1-2-2006"}, {"2006.1.2", isoDate, ""}, {"2006年1月2日", isoDate, ""},
		{"2. January 2006", isoDate, ""}, {"2. Jan 2006", isoDate, ""}, {"2-Jan-06", isoDate, ""}, {"2-Jan-2006", isoDate, ""}, {"2 Jan 2006", isoDate, ""}, {"2 January 2006", isoDate, ""}, {"Jan 2, 2006", isoDate, ""}, {"January 2, 2006", isoDate, ""},
	}
}

// formOf returns the form in which the texts are dates, but for a few, which others counts.
func formOf(texts []string) (form dateForm, others int, found bool) {
	for _, f := range dateForms() {
		n := countDates(texts, f.layout)
		if n > 0 && (f.other == "" || n > countDates(texts, f.other)) {
			return f, len(texts) - n, true
		}
	}
	return dateForm{}, 0, false
}

// countDates returns how many texts are dates of a layout, 0 if too few are for a column of dates.
func countDates(texts []string, layout string) (n int) {
	for i, t := range texts {
		if _, err := time.Parse(layout, inEnglish.Replace(t)); err == nil {
			n++
		} else if float64(i+1-n) > (1-numbersShare)*float64(len(texts))+1e-9 {
			return 0
		}
	}
	return n
}

// inEnglish has the months as time.Parse knows them.
var inEnglish = strings.NewReplacer("January", "January", "Januar", "January", "Jänner", "January", "February", "February", "Februar", "February", "März", "March", "Mrz", "Mar",
	"Mai", "May", "Juni", "June", "Juli", "July", "Oktober", "October", "Okt", "Oct", "Dezember", "December", "Dez", "Dec")

// iso returns a date that has the form as the table has it.
func (f dateForm) iso(text string) string {
	t, err := time.Parse(f.layout, inEnglish.Replace(text))
	if err != nil {
		return text
	}
	return strings.TrimSuffix(t.Format(f.as), " 00:00:00")
}
