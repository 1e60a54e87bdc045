package instance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/store"
)

// A row is a JSON array of the values of its columns: texts, booleans and null as they are,
// integers as numbers, floating-point numbers as {"f": "…"}, bytes as {"b": base64}. So a
// row has one form, whichever database it is in.
type (
	floating struct {
		F string `json:"f"`
	}
	binaryValue struct {
		B string `json:"b"`
	}
)

func encodeRow(values []any) ([]byte, error) {
	list := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil, string, int64, bool:
			list[i] = v
		case float64:
			list[i] = floating{strconv.FormatFloat(v, 'g', -1, 64)}
		case []byte:
			list[i] = binaryValue{base64.StdEncoding.EncodeToString(v)}
		default:
			return nil, fmt.Errorf("a value has the type %T", v)
		}
	}
	return json.Marshal(list)
}

func decodeRow(line []byte) ([]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var values []any
	if err := decoder.Decode(&values); err != nil {
		return nil, err
	}
	for i, v := range values {
		var err error
		switch v := v.(type) {
		case json.Number:
			values[i], err = v.Int64()
		case map[string]any:
			values[i], err = decodeValue(v)
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

func decodeValue(v map[string]any) (any, error) {
	if text, ok := v["f"].(string); ok {
		return strconv.ParseFloat(text, 64)
	}
	text, _ := v["b"].(string)
	return base64.StdEncoding.DecodeString(text)
}

// sum hashes rows whatever their order: rows of a table differ in their keys, so no two are
// the same.
type sum struct {
	rows  int64
	total [sha256.Size]byte
}

func (s *sum) add(row []byte) {
	s.rows++
	carry := 0
	hash := sha256.Sum256(row)
	for i := len(hash) - 1; i >= 0; i-- { // an addition of 256 bits
		carry += int(s.total[i]) + int(hash[i])
		s.total[i] = byte(carry)
		carry >>= 8
	}
}

func (s *sum) result() TableSum { return TableSum{s.rows, hex.EncodeToString(s.total[:])} }

// eachRow calls each with the rows of a table in their one form.
func eachRow(ctx context.Context, m *store.Move, t store.Table, each func(row []byte) error) (TableSum, error) {
	var total sum
	err := m.Rows(ctx, t, func(values []any) error {
		row, err := encodeRow(values)
		if err != nil {
			return fmt.Errorf("read table %s: %w", t.Name, err)
		}
		total.add(row)
		return each(row)
	})
	return total.result(), err
}

// differing names the tables that have other rows than they should.
func differing(got, want map[string]TableSum) string {
	var list []string
	for name, w := range want {
		if g := got[name]; g != w {
			list = append(list, fmt.Sprintf("%s (%d rows instead of %d)", name, g.Rows, w.Rows))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			list = append(list, name+" (not exported)")
		}
	}
	return strings.Join(list, ", ")
}
