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
		{"2-Jan-2006", isoDate, ""}, {"2 Jan 2006", isoDate, ""}, {"2 January 2006", isoDate, ""}, {"Jan 2, 2006", isoDate, ""}, {"January 2, 2006", isoDate, ""},
	}
}

// formOf returns the form in which all texts are dates.
func formOf(texts []string) (form dateForm, found bool) {
	for _, f := range dateForms() {
		if allDates(texts, f.layout) && (f.other == "" || !allDates(texts, f.other)) {
			return f, true
		}
	}
	return dateForm{}, false
}

func allDates(texts []string, layout string) bool {
	for _, t := range texts {
		if _, err := time.Parse(layout, t); err != nil {
			return false
		}
	}
	return len(texts) > 0
}

// iso returns a date that has the form as the table has it.
func (f dateForm) iso(text string) string {
	t, err := time.Parse(f.layout, text)
	if err != nil {
		return text
	}
	return strings.TrimSuffix(t.Format(f.as), " 00:00:00")
}
