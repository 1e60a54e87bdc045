package pdf

func isCell(name string) bool { return name == "TD" || name == "TH" }

// maxSpan bounds the rows and the columns that a cell covers.
const maxSpan = 1000

// enterCell sets the column of a cell of a table, and the rows and columns that it covers.
func (t *tags) enterCell(in *nesting, element uint64) error {
	count, err := t.lib.number("FPDF_StructElement_GetAttributeCount", element)
	if err != nil {
		return err
	}
	in.role.Rows, in.role.Columns = 0, 0
	for i := range max(0, min(count, 10)) {
		attribute, err := t.lib.call("FPDF_StructElement_GetAttributeAtIndex", element, uint64(i))
		if err != nil {
			return err
		}
		for name, span := range map[string]*int{"RowSpan": &in.role.Rows, "ColSpan": &in.role.Columns} {
			if n, err := t.lib.attribute(attribute, name); err != nil {
				return err
			} else if n > 1 {
				*span = min(n, maxSpan)
			}
		}
	}
	for in.open[*in.column] > 0 {
		*in.column++
	}
	in.role.Column = *in.column
	for range max(1, in.role.Columns) {
		in.open[*in.column] = in.role.Rows
		*in.column++
	}
	return nil
}

// attribute returns a number among attributes of an element, 0 if it is not there.
func (l *library) attribute(attributes uint64, name string) (int, error) {
	at := l.writeString(name)
	if attributes == 0 || at == 0 {
		return 0, nil
	}
	value, err := l.call("FPDF_StructElement_Attr_GetValue", attributes, at)
	if err != nil || value == 0 {
		return 0, err
	}
	ok, err := l.call("FPDF_StructElement_Attr_GetNumberValue", value, l.scratch)
	if err != nil || ok == 0 {
		return 0, err
	}
	if n := l.floats(1)[0]; n >= 1 && n <= maxSpan {
		return int(n), nil
	}
	return 0, nil
}
