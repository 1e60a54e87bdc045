//go:build unioffice

package unioffice

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unidoc/unioffice/common/license"
	"github.com/unidoc/unioffice/common/tempstorage/memstore"
)

// SetLicense sets the licence key that unioffice uses in this process: the text of a
// key for offline use, from its BEGIN line to its END line. It returns an error for a
// wrong key.
func SetLicense(key string) error {
	if err := license.SetLicenseKey(key, customerOf(key)); err != nil {
		return fmt.Errorf("unioffice does not accept the licence key, which must be one for offline use, with its BEGIN and END lines: %w", err)
	}
	memstore.SetAsStorage() // else it leaves files when the parser is killed
	return nil
}

// customerOf returns the customer's name in a key, which unioffice wants beside the
// key; "" if there is none. The key is JSON in base64, a line "+", and a signature.
func customerOf(key string) string {
	_, rest, _ := strings.Cut(key, "LICENSE KEY-----")
	encoded, _, _ := strings.Cut(rest, "+\n")
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(encoded), ""))
	if err != nil {
		return ""
	}
	var content struct {
		Name string `json:"customer_name"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return ""
	}
	return content.Name
}
