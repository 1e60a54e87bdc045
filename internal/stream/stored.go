package stream

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// StoredLog is the blob of a segment of a log, or of the whole log of a run that
// has ended. The items keep the offsets that they had in the workflow.
//
// Its JSON is {"packed": "<base64>"} if every item can be restored to the byte, and
// {"items": […]} otherwise. Logs that an older version stored have items.
type StoredLog struct {
	Items []Item
}

// storedJSON is the JSON of a StoredLog. Packed is compressed with deflate and the
// dictionary. Uncompressed it has a line with the offset of the first item, and for
// each item a line of its topic, a space and the JSON of its event.
type storedJSON struct {
	Items  []Item `json:"items,omitempty"`
	Packed []byte `json:"packed,omitempty"`
}

// packers are reused, because a new one takes a megabyte.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriterDict(io.Discard, flate.DefaultCompression, []byte(dictionary))
	if err != nil {
		panic(err) // only for a level that there is not
	}
	return w
}}

// MarshalJSON implements json.Marshaler.
func (l StoredLog) MarshalJSON() ([]byte, error) {
	lines, ok := l.lines()
	if !ok {
		return json.Marshal(storedJSON{Items: l.Items})
	}
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	var packed bytes.Buffer
	w.Reset(&packed)
	if _, err := w.Write(lines); err != nil {
		return nil, fmt.Errorf("compress a log: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress a log: %w", err)
	}
	return json.Marshal(storedJSON{Packed: packed.Bytes()})
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *StoredLog) UnmarshalJSON(data []byte) error {
	var stored storedJSON
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	l.Items = stored.Items
	if stored.Packed == nil {
		return nil
	}
	lines, err := io.ReadAll(flate.NewReaderDict(bytes.NewReader(stored.Packed), []byte(dictionary)))
	if err == nil {
		l.Items, err = itemsOf(string(lines))
	}
	if err != nil {
		return fmt.Errorf("unpack a log: %w", err)
	}
	return nil
}

// lines returns the items as storedJSON describes them. ok is false if there are none, or
// if itemsOf would not return exactly these.
func (l StoredLog) lines() (lines []byte, ok bool) {
	if len(l.Items) == 0 {
		return nil, false
	}
	first := l.Items[0].Offset
	lines = strconv.AppendInt(nil, first, 10)
	for i, item := range l.Items {
		event, plain := eventOf(item.Data)
		if !plain || item.Offset != first+int64(i) || strings.ContainsAny(item.Topic, " \n") || bytes.IndexByte(event, '\n') >= 0 {
			return nil, false
		}
		lines = append(append(append(append(lines, '\n'), item.Topic...), ' '), event...)
	}
	return lines, true
}

// itemsOf is the inverse of StoredLog.lines.
func itemsOf(lines string) ([]Item, error) {
	head, rest, more := strings.Cut(lines, "\n")
	offset, err := strconv.ParseInt(head, 10, 64)
	if err != nil {
		return nil, err
	}
	items := make([]Item, 0, strings.Count(lines, "\n"))
	for ; more; offset++ {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		topic, event, _ := strings.Cut(line, " ")
		items = append(items, Item{Topic: topic, Data: dataOf([]byte(event)), Offset: offset})
	}
	return items, nil
}

// plainJSON is how the data of an entry of NewEntry begins: the metadata of a payload,
// {"encoding": "json/plain"}, as 24 bytes in base64. Its JSON follows.
const plainJSON = "ChYKCGVuY29kaW5nEgpqc29uL3BsYWlu"

// dataOf returns the data of an entry that holds the JSON of an event. It is the data of
// NewEntry, at a tenth of the cost.
func dataOf(event []byte) string {
	raw := protowire.AppendTag(make([]byte, 0, len(event)+8), 2, protowire.BytesType)
	return plainJSON + base64.StdEncoding.EncodeToString(protowire.AppendBytes(raw, event))
}

// eventOf returns the JSON of an event from the data of an entry, if dataOf returns the
// same data for it.
func eventOf(data string) (event []byte, ok bool) {
	rest, ok := strings.CutPrefix(data, plainJSON)
	if !ok {
		return nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return nil, false
	}
	_, _, n := protowire.ConsumeTag(raw)
	if n < 0 {
		return nil, false
	}
	event, n = protowire.ConsumeBytes(raw[n:])
	return event, n >= 0 && dataOf(event) == data
}
