package main

import (
	"fmt"
	"io"
	"math"
)

// figure is one measured value.
type figure struct {
	name   string // with its unit
	value  float64
	higher bool // whether higher is better
	target *float64
}

// lower returns a figure that is better when it is lower.
func lower(name string, value float64) figure { return figure{name: name, value: value} }

// higher returns a figure that is better when it is higher.
func higher(name string, value float64) figure {
	return figure{name: name, value: value, higher: true}
}

// aim sets the value that the figure should reach.
func (f figure) aim(target float64) figure {
	f.target = &target
	return f
}

// met reports whether the figure reaches its target.
func (f figure) met() bool {
	if f.higher {
		return f.value >= *f.target
	}
	return f.value <= *f.target
}

// printFigures writes a Markdown table.
func printFigures(w io.Writer, figures []figure) {
	if len(figures) == 0 {
		return
	}
	fmt.Fprintln(w, "| measure | measured | target | met |")
	fmt.Fprintln(w, "|---|---|---|---|")
	for _, f := range figures {
		target, met := "", ""
		if f.target != nil {
			target, met = "≤ "+short(*f.target), "no"
			if f.higher {
				target = "≥ " + short(*f.target)
			}
			if f.met() {
				met = "yes"
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", f.name, short(f.value), target, met)
	}
}

// short writes a whole number as it is, another value with three digits that
// count, and one below 1 with four.
func short(v float64) string {
	switch {
	case v == math.Trunc(v), v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.4g", v)
	}
}
