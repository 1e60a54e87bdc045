package latex

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/script"
)

// prefixes and units are the names of siunitx.
var (
	prefixes = symbolsOf(`yocto y zepto z atto a femto f pico p nano n micro µ milli m centi c deci d deca da deka da hecto h kilo k mega M giga G tera T peta P exa E kibi Ki mebi Mi gibi Gi tebi Ti`)
	units    = symbolsOf(`metre m meter m gram g kilogram kg second s ampere A kelvin K mole mol candela cd hertz Hz newton N pascal Pa joule J watt W coulomb C volt V farad F ohm Ω
siemens S weber Wb tesla T henry H lumen lm lux lx becquerel Bq gray Gy sievert Sv katal kat radian rad steradian sr celsius °C degreeCelsius °C degree ° arcminute ′ arcsecond ″
minute min hour h day d litre L liter L tonne t percent % electronvolt eV decibel dB bel B byte B bit bit angstrom Å hectare ha dalton Da astronomicalunit au neper Np
um µm ug µg us µs uA µA uV µV uL µL ul µl uF µF uW µW uJ µJ umol µmol kohm kΩ Mohm MΩ degC °C`)
	powers = map[string]string{"square": "2", "cubic": "3", "squared": "2", "cubed": "3"}
)

// quantity reads a number, a unit or both, as siunitx has them. ok is false for another
// command.
func quantity(c *scanner, name string) (text string, ok bool) {
	between, numbers, hasUnit := "", 1, true
	switch name {
	case "SI", "qty":
	case "si", "unit":
		numbers = 0
	case "num":
		hasUnit = false
	case "ang":
		c.option()
		return angle(c.argument()), true
	case "SIrange", "qtyrange":
		numbers, between = 2, "–"
	case "numrange":
		numbers, between, hasUnit = 2, "–", false
	case "SIlist", "qtylist":
		between = ", "
	case "numlist":
		between, hasUnit = ", ", false
	default:
		return "", false
	}
	c.option()
	var values []string
	for range numbers {
		for part := range strings.SplitSeq(c.argument(), ";") {
			values = append(values, number(part))
		}
	}
	text = strings.Join(values, between)
	if hasUnit {
		c.option()
		text = strings.TrimSpace(text + " " + unit(c.argument()))
	}
	return text, true
}

// number returns a number without the commands in it.
func number(s string) string {
	return Formula(strings.NewReplacer("+-", "±", `\pm`, "±", "\\,", "").Replace(s))
}

// angle returns an angle of degrees, minutes and seconds.
func angle(s string) string {
	var b strings.Builder
	for i, part := range strings.SplitN(s, ";", 3) {
		if part = number(part); part != "" {
			b.WriteString(part + []string{"°", "′", "″"}[i])
		}
	}
	return b.String()
}

// unit returns a unit: m/s², N·m.
func unit(s string) string {
	u := unitReader{}
	for c := (&scanner{s: s}); !c.done(); {
		switch b := c.s[c.at]; b {
		case '\\':
			c.at++
			u.command(c)
		case '^', '_':
			c.at++
			raise := script.Super
			if b == '_' {
				raise = script.Sub
			}
			u.out += raise(Formula(c.argument()))
		case '.', '~':
			c.at++
			u.next()
		case '{', '}', ' ', '\n', '$':
			c.at++
		default:
			u.out += s[c.at : c.at+1]
			c.at++
		}
	}
	return u.out
}

// unitReader reads one unit after the other.
type unitReader struct {
	out   string
	power string // of the next unit
	open  bool   // a prefix waits for its unit
}

// next begins a unit, unless a prefix has begun it.
func (u *unitReader) next() {
	if !u.open && u.out != "" && !strings.HasSuffix(u.out, "/") && !strings.HasSuffix(u.out, "·") {
		u.out += "·"
	}
}

func (u *unitReader) command(c *scanner) {
	name := c.command()
	switch {
	case name == "per":
		if u.out == "" {
			u.out = "1"
		}
		u.out += "/"
	case name == "square", name == "cubic":
		u.power = powers[name]
	case name == "squared", name == "cubed":
		u.out += script.Super(powers[name])
	case name == "tothe":
		u.out += script.Super(c.argument())
	case name == "raiseto":
		u.power = c.argument()
	case name == "of":
		u.out += " (" + c.argument() + ")"
	case name == "cdot":
		u.next()
	case prefixes[name] != "":
		u.next()
		u.out, u.open = u.out+prefixes[name], true
	case name != "" && isLetter(name[0]):
		if units[name] != "" {
			name = units[name]
		}
		u.next()
		u.out += name + script.Super(u.power)
		u.power, u.open = "", false
	case name == "%":
		u.out += name
	}
}
