package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
)

// Encryption is the master key with which blobs and the histories of workflows are encrypted.
type Encryption struct {
	// The file with the master key: a line with 32 bytes in base64, such as openssl rand
	// -base64 32 prints. Further lines are earlier keys, until cairn keys rotate has wrapped the
	// data keys anew. Keep the file apart from the data. Defaults to none: what is stored is not
	// encrypted (governance.md).
	KeyFile string `koanf:"key_file"`
	// The address of a master key in a key management service: awskms:///KEY?region=REGION,
	// with the id, the alias or the ARN of a key of AWS KMS. encryption.key_file beside it still
	// opens what it wrapped. Defaults to none.
	KMSURL string `koanf:"kms_url"`
}

// On reports whether there is a master key.
func (e Encryption) On() bool { return e.KeyFile != "" || e.KMSURL != "" }

func (e Encryption) validate() error {
	var errs []error
	if e.KeyFile != "" && !filepath.IsAbs(e.KeyFile) {
		errs = append(errs, errors.New("encryption.key_file: an absolute path is needed"))
	}
	if u, err := url.Parse(e.KMSURL); e.KMSURL != "" && (err != nil || u.Scheme != "awskms" || u.Host+u.Path == "") {
		errs = append(errs, errors.New("encryption.kms_url: write awskms:///KEY?region=REGION, with the id, the alias or the ARN of a key of AWS KMS"))
	}
	return errors.Join(errs...)
}

// Scan is the malware scanner that looks at originals before they are parsed.
type Scan struct {
	// The host and port of ClamAV's daemon, such as localhost:3310 (TCPSocket in clamd.conf).
	// Documents wait while it does not answer. Defaults to none: nothing is scanned
	// (governance.md).
	Clamd string `koanf:"clamd"`
}

func (s Scan) validate() error {
	if s.Clamd == "" {
		return nil
	}
	if host, port, err := net.SplitHostPort(s.Clamd); err != nil || host == "" || port == "" {
		return fmt.Errorf("scan.clamd %q: the host and port of clamd are needed, such as localhost:3310", s.Clamd)
	}
	return nil
}
