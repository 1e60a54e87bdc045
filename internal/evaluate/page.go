package evaluate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Page is a page that should be found. Its JSON is the number alone, or
// {"document": "manual.pdf", "page": 3}; in a cell of CSV it is 3 or manual.pdf:3.
type Page struct {
	Document string // id, external id or name; "" = of any expected document
	Number   int    // from 1
}

// String returns the page as a cell of CSV has it.
func (p Page) String() string {
	if p.Document == "" {
		return strconv.Itoa(p.Number)
	}
	return p.Document + ":" + strconv.Itoa(p.Number)
}

// parsePage parses the output of String.
func parsePage(text string) (Page, error) {
	document, number := "", text
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
		document, number = strings.TrimSpace(text[:colon]), text[colon+1:]
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return Page{}, fmt.Errorf("%q is no page: write 3 or manual.pdf:3", text)
	}
	return Page{document, n}, nil
}

type pageObject struct {
	Document string `json:"document"`
	Page     int    `json:"page"`
}

// MarshalJSON implements json.Marshaler.
func (p Page) MarshalJSON() ([]byte, error) {
	if p.Document == "" {
		return json.Marshal(p.Number)
	}
	return json.Marshal(pageObject{p.Document, p.Number})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Page) UnmarshalJSON(data []byte) (err error) {
	var object pageObject
	switch data[0] {
	case '{':
		err = json.Unmarshal(data, &object)
		*p = Page{object.Document, object.Page}
	case '"':
		var text string
		if err = json.Unmarshal(data, &text); err == nil {
			*p, err = parsePage(text)
		}
	default:
		err = json.Unmarshal(data, &p.Number)
	}
	return err
}
