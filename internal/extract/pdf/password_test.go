package pdf_test

import (
	"crypto/md5"
	"crypto/rc4"
	"fmt"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestPassword(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	data := encrypted("geheim\xdf") // ß in Latin-1
	for _, tc := range []struct {
		behaviour, password string
		code                knowledge.Code
	}{
		{"the right password opens the file", "geheimß", ""},
		{"a wrong one does not", "falsch", knowledge.CodeEncrypted},
		{"none does not", "", knowledge.CodeEncrypted},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			file := source(t, data)
			file.Options.Password = tc.password
			result, err := reader.Read(t.Context(), file)
			if tc.code != "" {
				if !knowledge.IsCode(err, tc.code) {
					t.Errorf("error %v, want code %s", err, tc.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Layout.Blocks[0].Text; got != "A secret." {
				t.Errorf("text %q", got)
			}
		})
	}
}

// encrypted returns a PDF that asks for a password: the standard security handler
// of revision 2, with RC4 and keys of 40 bits.
func encrypted(password string) []byte {
	const id, permissions = "0123456789abcdef", -4
	padded := []byte(password + "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a")[:32]
	padding := []byte("\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a")
	ownerKey := md5.Sum(padded) // no owner password: the user's
	owner := crypt(ownerKey[:5], padded)
	hash := md5.New()
	hash.Write(padded)
	hash.Write(owner)
	hash.Write([]byte{0xfc, 0xff, 0xff, 0xff}) // permissions
	hash.Write([]byte(id))
	key := hash.Sum(nil)[:5]
	user := crypt(key, padding)

	const contentObject = 4
	objectKey := md5.Sum(append(append([]byte(nil), key...), contentObject, 0, 0, 0, 0))
	objects := onePage("", "", string(crypt(objectKey[:10], []byte(body(72, 700, "A secret.")))))
	return build(fmt.Sprintf("/ID [<%x> <%x>] /Encrypt 6 0 R", id, id),
		append(objects, fmt.Sprintf("<< /Filter /Standard /V 1 /R 2 /O <%x> /U <%x> /P %d >>", owner, user, permissions))...)
}

func crypt(key, data []byte) []byte {
	out := make([]byte, len(data))
	cipher, err := rc4.NewCipher(key)
	if err != nil {
		panic(err) // the keys of the test have the right length
	}
	cipher.XORKeyStream(out, data)
	return out
}
