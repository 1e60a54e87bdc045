package pdf

import (
	"regexp"
	"strings"
	"time"
)

// metadata returns what the file says of itself. Dates are in RFC 3339.
func (d *document) metadata() (map[string]string, error) {
	found := map[string]string{}
	for tag, key := range map[string]string{
		"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created", "ModDate": "modified",
	} {
		value, err := d.lib.metaText(d.handle, tag)
		if err != nil {
			return nil, err
		}
		value = strings.Join(strings.Fields(value), " ")
		if strings.HasSuffix(tag, "Date") {
			value = date(value)
		}
		if value != "" {
			found[key] = value
		}
	}
	return found, nil
}

// metaText returns an entry of the document's metadata, "" if it has none.
func (l *library) metaText(doc uint64, tag string) (string, error) {
	return l.wideText("FPDF_GetMetaText", doc, l.writeString(tag))
}

// pdfDate matches D:20261122111548+00'00', of which all but the year may be
// missing.
var pdfDate = regexp.MustCompile(`^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([+-])(\d{2})'?(\d{2})?'?|Z.*)?$`)

// date returns a date of a PDF in RFC 3339, only its day if it has no time, and ""
// if it is none.
func date(s string) string {
	m := pdfDate.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	part := func(i int, missing string) string {
		if m[i] == "" {
			return missing
		}
		return m[i]
	}
	day := m[1] + "-" + part(2, "01") + "-" + part(3, "01")
	zone := "Z"
	if m[7] != "" {
		zone = m[7] + m[8] + ":" + part(9, "00")
	}
	at, err := time.Parse(time.RFC3339, day+"T"+part(4, "00")+":"+part(5, "00")+":"+part(6, "00")+zone)
	switch {
	case err != nil:
		return ""
	case m[4] == "":
		return day
	default:
		return at.Format(time.RFC3339)
	}
}
