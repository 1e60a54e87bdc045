package outlook_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/outlook"
	"github.com/cairn-rag/cairn/internal/extract/outlook/outlooktest"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestMessagesEndAsStated(t *testing.T) {
	t.Parallel()
	whole := outlooktest.Compound(offer(map[uint32]any{0x1000: "Hello"}, outlooktest.Root))
	deep := offer(nil, outlooktest.Embedded)
	for range 25 {
		deep = offer(nil, outlooktest.Embedded).With("attach", attachment(map[uint32]any{0x3705: 5, 0x3701: deep}))
	}
	deep["__properties_version1.0"] = append(make([]byte, 8), deep["__properties_version1.0"].([]byte)...)
	claims := func(at int) []byte {
		data := append([]byte(nil), whole...)
		copy(data[at:], "\xff\xff\xff\x00")
		return data
	}
	for _, tc := range []struct {
		behaviour string
		data      []byte
		code      knowledge.Code
	}{
		{"nothing", nil, knowledge.CodeCorrupt},
		{"cut off in the header", whole[:100], knowledge.CodeCorrupt},
		{"cut off", whole[:len(whole)/2], knowledge.CodeCorrupt},
		{"without its last sector", whole[:len(whole)-512], knowledge.CodeCorrupt},
		{"more directories than there is room for", claims(40), knowledge.CodeCorrupt},
		{"more tables than there is room for", claims(44), knowledge.CodeCorrupt},
		{"more small tables than there is room for", claims(64), knowledge.CodeCorrupt},
		{"more tables of tables than there is room for", claims(72), knowledge.CodeCorrupt},
		{"a compound file of another kind", outlooktest.Compound(storage{"WordDocument": []byte("text")}), knowledge.CodeCorrupt},
		{"compressed text that is cut off", outlooktest.Compound(offer(map[uint32]any{0x1009: packed(`{\rtf1 The pump}`)[:20]}, outlooktest.Root)), knowledge.CodeCorrupt},
		{"compressed text of an unknown kind", outlooktest.Compound(offer(map[uint32]any{0x1009: []byte("0000111122223333444")}, outlooktest.Root)), knowledge.CodeCorrupt},
		{"compressed text of four gigabytes", outlooktest.Compound(offer(map[uint32]any{0x1009: []byte("\xff\xff\xff\xff\xff\xff\xff\xffLZFu0000")}, outlooktest.Root)), knowledge.CodeCorrupt},
		{"messages inside messages without end", outlooktest.Compound(deep), knowledge.CodeParseLimit},
		{"an encrypted message", outlooktest.Compound(offer(nil, outlooktest.Root).With("attach",
			attachment(map[uint32]any{0x3705: 1, 0x3701: []byte("secret"), 0x3707: "smime.p7m", 0x370e: "application/pkcs7-mime; smime-type=enveloped-data"}))), knowledge.CodeEncrypted},
		{"a protected message", outlooktest.Compound(offer(nil, outlooktest.Root).With("attach",
			attachment(map[uint32]any{0x3705: 1, 0x3701: []byte("secret"), 0x3707: "message.rpmsg"}))), knowledge.CodeEncrypted},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if _, err := outlook.Read(source(t, tc.data)); !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %s", err, tc.code)
			}
		})
	}
}

func TestASignedMessageIsRead(t *testing.T) {
	t.Parallel()
	signed := "Content-Type: multipart/signed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nThe signed pump\r\n--x\r\nContent-Type: application/pkcs7-signature\r\n\r\nabc\r\n--x--\r\n"
	message := offer(nil, outlooktest.Root).With("attach", attachment(map[uint32]any{0x3705: 1, 0x3701: []byte(signed), 0x3707: "smime.p7m", 0x370e: "multipart/signed"}))
	result, err := outlook.Read(source(t, outlooktest.Compound(message)))
	if err != nil || len(result.Layout.Blocks) != 2 || result.Layout.Blocks[1].Text != "The signed pump" || len(result.Children) != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(outlooktest.Compound(offer(map[uint32]any{0x1000: "Hello"}, outlooktest.Root)))
	f.Add(outlooktest.Compound(offer(map[uint32]any{0x1009: packed(`{\rtf1\fromhtml1{\*\htmltag <p>}\u8364?\'80{\fonttbl{\f1\fcharset128 x;}}}`)}, outlooktest.Root)))
	f.Add(outlooktest.Compound(offer(nil, outlooktest.Root).With("attach", attachment(map[uint32]any{0x3705: 5, 0x3701: offer(nil, outlooktest.Embedded)}))))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := outlook.Read(source(t, data))
		if err != nil && knowledge.AsError(err) == nil {
			t.Errorf("error %v has no code", err)
		}
		_ = result
	})
}

func FuzzRTF(f *testing.F) {
	for _, seed := range []string{`{\rtf1 a\par b}`, `{\rtf1\fromhtml1{\*\htmltag <p>}x}`, `{\rtf1\bin99999 x`, `\'`, `\u-1?`, `{{{{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := outlook.Read(source(t, outlooktest.Compound(offer(map[uint32]any{0x1009: plainRTF(string(text))}, outlooktest.Root))))
		if err != nil && knowledge.AsError(err) == nil {
			t.Errorf("error %v has no code", err)
		}
	})
}
