package odf

import (
	"archive/zip"
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
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ErrEncryption is returned for a document that is encrypted in a way that Decrypt
// does not know: the way of OpenDocument before 1.2, or of LibreOffice from 24.8 on.
var ErrEncryption = errors.New("the document is encrypted in another way")

const (
	manifestName = "META-INF/manifest.xml"
	maxManifest  = 16 << 20
	// maxIterations bounds the time for a key. LibreOffice writes 100,000.
	maxIterations = 1_000_000
)

// encryptionData is what a manifest says of an encrypted file.
var encryptionData = regexp.MustCompile(`(?s)<(?:[\w.-]+:)?encryption-data\b.*?</(?:[\w.-]+:)?encryption-data>`)

// Decrypt writes the document that a password opens, as OpenDocument 1.2 encrypts it:
// each file with AES in CBC mode, under a key from PBKDF2. Errors are ErrEncryption,
// or *knowledge.Error: corrupt, encrypted or parse_limit.
func Decrypt(path, password string, w io.Writer) error {
	doc, err := container.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = doc.Close() }() // it was only read
	manifest, err := doc.Bytes(manifestName, maxManifest)
	if err != nil {
		return err
	}
	root, err := markup.Parse(bytes.NewReader(manifest))
	if err != nil {
		return err
	}
	encrypted := map[string]*markup.Node{}
	for _, entry := range root.Children("file-entry") {
		if data := entry.Child("encryption-data"); data != nil {
			encrypted[entry.Attr("full-path")] = data
		}
	}
	d := decrypter{doc: doc, out: zip.NewWriter(w), start: sha256.Sum256([]byte(password)), room: container.MaxUnpacked}
	for _, name := range doc.Names() {
		if err := d.copy(name, encrypted[name], manifest); err != nil {
			return err
		}
	}
	if err := d.out.Close(); err != nil {
		return fmt.Errorf("write the decrypted document: %w", err)
	}
	return nil
}

type decrypter struct {
	doc   *container.Container
	out   *zip.Writer
	start [sha256.Size]byte // hash of the password
	room  int64             // bytes that may still be unpacked
}

// copy copies a file of the document, decrypted if data says how it is encrypted.
func (d *decrypter) copy(name string, data *markup.Node, manifest []byte) error {
	if strings.HasSuffix(name, "/") {
		return nil
	}
	content, err := d.doc.Bytes(name, container.MaxUnpacked)
	if err != nil {
		return err
	}
	in := io.Reader(bytes.NewReader(content))
	switch {
	case name == manifestName:
		in = bytes.NewReader(encryptionData.ReplaceAll(manifest, nil))
	case data != nil:
		if content, err = d.open(data, content); err != nil {
			return err
		}
		in = flate.NewReader(bytes.NewReader(content))
	}
	out, err := d.out.Create(name)
	if err != nil {
		return fmt.Errorf("write the decrypted document: %w", err)
	}
	n, err := io.Copy(out, io.LimitReader(in, d.room+1))
	if d.room -= n; err != nil {
		return container.Damaged(err)
	}
	if d.room < 0 {
		return knowledge.Errorf(knowledge.CodeParseLimit, "the document unpacks to more than %d MB; remove pictures or split it", container.MaxUnpacked>>20)
	}
	return nil
}

// open returns the deflated content of an encrypted file.
func (d *decrypter) open(data *markup.Node, content []byte) ([]byte, error) {
	algorithm, derivation, start := data.Child("algorithm"), data.Child("key-derivation"), data.Child("start-key-generation")
	if !strings.HasSuffix(algorithm.Attr("algorithm-name"), "#aes256-cbc") || !strings.HasSuffix(derivation.Attr("key-derivation-name"), "PBKDF2") ||
		!strings.HasSuffix(start.Attr("start-key-generation-name"), "#sha256") || !strings.HasSuffix(data.Attr("checksum-type"), "#sha256-1k") {
		return nil, ErrEncryption
	}
	iterations, err := strconv.Atoi(derivation.Attr("iteration-count"))
	if err != nil || iterations < 1 || iterations > maxIterations {
		return nil, container.Damaged(fmt.Errorf("%d iterations: %w", iterations, err))
	}
	vector, vectorErr := base64.StdEncoding.DecodeString(algorithm.Attr("initialisation-vector"))
	salt, saltErr := base64.StdEncoding.DecodeString(derivation.Attr("salt"))
	checksum, checksumErr := base64.StdEncoding.DecodeString(data.Attr("checksum"))
	if err := errors.Join(vectorErr, saltErr, checksumErr); err != nil || len(vector) != aes.BlockSize || len(content) == 0 || len(content)%aes.BlockSize != 0 {
		return nil, container.Damaged(err)
	}
	key, err := pbkdf2.Key(sha1.New, string(d.start[:]), salt, iterations, 32)
	if err != nil {
		return nil, fmt.Errorf("make the key of a document: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make the key of a document: %w", err)
	}
	cipher.NewCBCDecrypter(block, vector).CryptBlocks(content, content)
	padding := int(content[len(content)-1])
	content = content[:max(len(content)-padding, 0)]
	if sum := sha256.Sum256(content[:min(len(content), 1024)]); padding > aes.BlockSize || !bytes.Equal(sum[:], checksum) {
		return nil, knowledge.Errorf(knowledge.CodeEncrypted,
			"the document cannot be opened with this password; send it with the right override.password, or without a password")
	}
	return content, nil
}
