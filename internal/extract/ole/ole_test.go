package ole_test

import (
	"bytes"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/ole"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/xuri/excelize/v2"
)

func TestDecrypt(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	defer func() { _ = f.Close() }() // it was only read
	var b bytes.Buffer
	if err := f.Write(&b, excelize.Options{Password: "tea"}); err != nil {
		t.Fatal(err)
	}
	if !ole.IsContainer(b.Bytes()) || !ole.IsEncrypted(bytes.NewReader(b.Bytes())) {
		t.Error("it is not seen to be encrypted")
	}
	plain, err := ole.Decrypt(b.Bytes(), "tea")
	if err != nil || !bytes.HasPrefix(plain, []byte("PK")) {
		t.Errorf("%d bytes, error %v", len(plain), err)
	}
	for _, password := range []string{"", "coffee"} {
		if _, err := ole.Decrypt(b.Bytes(), password); !knowledge.IsCode(err, knowledge.CodeEncrypted) {
			t.Errorf("password %q: %v", password, err)
		}
	}
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	for behaviour, tc := range map[string]struct {
		object string
		name   string
	}{
		"a document as it is": {"PK\x03\x04rest", "object"},
		"a PDF":               {"%PDF-1.7", "object.pdf"},
		"a control":           {"anything else", ""},
		"nothing":             {"", ""},
		"a damaged container": {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and no more", ""},
	} {
		if name, data := ole.Unpack("object", []byte(tc.object)); name != tc.name || (data == nil) != (tc.name == "") {
			t.Errorf("%s: %q with %d bytes, want %q", behaviour, name, len(data), tc.name)
		}
	}
}
