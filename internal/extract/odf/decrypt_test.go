package odf_test

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/odf"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// encrypted returns the path of a text whose content is encrypted under the password
// "tea". change edits its manifest.
func encrypted(t *testing.T, content []byte, change *strings.Replacer) string {
	t.Helper()
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(deflated.Bytes()[:min(deflated.Len(), 1024)])
	padding := aes.BlockSize - deflated.Len()%aes.BlockSize
	plain := append(deflated.Bytes(), bytes.Repeat([]byte{byte(padding)}, padding)...)
	salt, vector, start := []byte("sixteen bytes..."), []byte("0123456789abcdef"), sha256.Sum256([]byte("tea"))
	key, err := pbkdf2.Key(sha1.New, string(start[:]), salt, 1000, 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	cipher.NewCBCEncrypter(block, vector).CryptBlocks(plain, plain)
	base := base64.StdEncoding.EncodeToString
	manifest := fmt.Sprintf(`<m:manifest xmlns:m="m"><m:file-entry m:full-path="content.xml"><m:encryption-data m:checksum-type="x#sha256-1k" m:checksum=%q>
<m:algorithm m:algorithm-name="x#aes256-cbc" m:initialisation-vector=%q/><m:key-derivation m:key-derivation-name="PBKDF2" m:iteration-count="1000" m:salt=%q/>
<m:start-key-generation m:start-key-generation-name="x#sha256"/></m:encryption-data></m:file-entry></m:manifest>`, base(sum[:]), base(vector), base(salt))
	if change != nil {
		manifest = change.Replace(manifest)
	}
	return containertest.WriteFiles(t, containertest.File{Name: "META-INF/manifest.xml", Data: []byte(manifest)}, containertest.File{Name: "content.xml", Data: plain})
}

func TestDecrypt(t *testing.T) {
	t.Parallel()
	content := []byte(`<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="t"><office:body><office:text><text:p>Tea is hot.</text:p></office:text></office:body></office:document-content>`)
	for _, tc := range []struct {
		behaviour, password string
		content             []byte
		change              *strings.Replacer
		code                knowledge.Code // "" = text
	}{
		{"the password opens it", "tea", content, nil, ""},
		{"another password", "coffee", content, nil, knowledge.CodeEncrypted},
		{"so many iterations that a key takes hours", "tea", content, strings.NewReplacer(`"1000"`, `"1000000000"`), knowledge.CodeCorrupt},
		{"a vector of another length", "tea", content, strings.NewReplacer("MDEyMzQ1Njc4OWFiY2RlZg==", "MDEy"), knowledge.CodeCorrupt},
		{"no salt", "tea", content, strings.NewReplacer("m:salt", "m:other"), knowledge.CodeEncrypted},
		{"a bomb", "tea", bytes.Repeat(content[:16], 80<<20/16), nil, knowledge.CodeParseLimit},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			out, err := os.Create(filepath.Join(t.TempDir(), "plain"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			err = odf.Decrypt(encrypted(t, tc.content, tc.change), tc.password, out)
			if err == nil {
				_, err = odf.Read(format.Source{Path: out.Name()})
			}
			if tc.code == "" && err != nil || tc.code != "" && !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
		})
	}
	t.Run("another encryption is left to others", func(t *testing.T) {
		t.Parallel()
		err := odf.Decrypt(encrypted(t, content, strings.NewReplacer("#aes256-cbc", "#blowfish")), "tea", &bytes.Buffer{})
		if !errors.Is(err, odf.ErrEncryption) {
			t.Errorf("error %v", err)
		}
	})
}
