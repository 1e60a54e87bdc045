package access

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxToken bounds a JWT, in bytes.
const maxToken = 16 << 10

// maxNumericDate is the end of the year 9999, in Unix seconds.
const maxNumericDate = 253402300799

// checkForm returns the claims of a JWT whose form is right. It is stricter than the
// libraries that check signatures: they take a time that is a text, skip extensions that
// the header calls critical, and keep the last of two claims with one name. It does not
// check the signature.
func checkForm(token string, now time.Time) (tokenClaims, error) {
	var claims tokenClaims
	payload, err := payloadOf(token, now)
	if err != nil {
		return claims, err
	}
	return claims, claims.read(payload)
}

// payloadOf returns the claims of a JWT whose form, header and times are right, as they stand
// in it.
func payloadOf(token string, now time.Time) (map[string]json.RawMessage, error) {
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 {
		return nil, fmt.Errorf("a token has three parts and at most %d bytes", maxToken)
	}
	header, err := decodeObject(parts[0])
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := checkHeader(header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	payload, err := decodeObject(parts[1])
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return payload, checkTimes(payload, now)
}

// checkHeader refuses the headers of tokens that are not plain signed JWTs. No critical
// extension is known.
func checkHeader(header map[string]json.RawMessage) error {
	for _, name := range []string{"crit", "b64", "enc", "zip", "cty"} {
		if _, there := header[name]; there {
			return fmt.Errorf("%s is not supported", name)
		}
	}
	for _, name := range []string{"alg", "kid", "typ"} {
		value, err := textOf(header, name)
		if err != nil {
			return err
		}
		media := strings.TrimPrefix(strings.ToLower(value), "application/")
		if name == "typ" && !slices.Contains([]string{"", "jwt", "at+jwt"}, media) {
			return errors.New("typ must be JWT or at+jwt")
		}
	}
	return nil
}

// checkTimes refuses claims of times that are no numbers, out of range, or not now.
func checkTimes(payload map[string]json.RawMessage, now time.Time) error {
	leeway, seconds := jwtLeeway.Seconds(), float64(now.UnixMilli())/1000
	for _, name := range []string{"exp", "nbf", "iat"} {
		raw, there := payload[name]
		if !there && name != "exp" {
			continue
		}
		var at *float64
		if err := json.Unmarshal(raw, &at); err != nil || at == nil || *at <= 0 || *at > maxNumericDate {
			return fmt.Errorf("claim %s must be a number of seconds since 1970", name)
		}
		if name == "exp" && seconds >= *at+leeway {
			return errors.New("the token has expired")
		}
		if name != "exp" && *at > seconds+leeway {
			return fmt.Errorf("claim %s is in the future", name)
		}
	}
	return nil
}

// read sets the claims that Cairn uses, by their exact names.
func (c *tokenClaims) read(payload map[string]json.RawMessage) (err error) {
	for name, target := range map[string]*string{"sub": &c.Subject, "workspace": &c.Workspace, "clearance": &c.Clearance, "iss": new(string)} {
		if *target, err = textOf(payload, name); err != nil {
			return err
		}
	}
	for name, target := range map[string]*[]string{"roles": &c.Roles, "groups": &c.Groups, "aud": new([]string)} {
		if raw, there := payload[name]; there {
			if *target, err = textsOf(raw, name == "aud"); err != nil {
				return fmt.Errorf("claim %s %w", name, err)
			}
		}
	}
	var expires float64
	if err := json.Unmarshal(payload["exp"], &expires); err != nil {
		return fmt.Errorf("claim exp: %w", err)
	}
	c.Expires = int64(expires)
	return nil
}

// textOf returns the text of this name, "" if there is none.
func textOf(object map[string]json.RawMessage, name string) (string, error) {
	raw, there := object[name]
	if !there {
		return "", nil
	}
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil || text == nil {
		return "", fmt.Errorf("%s must be a text", name)
	}
	return *text, nil
}

// textsOf returns a list of texts. null is an empty list. A single text is a list only
// if orOne is set.
func textsOf(raw json.RawMessage, orOne bool) ([]string, error) {
	var one *string
	if orOne && json.Unmarshal(raw, &one) == nil && one != nil {
		return []string{*one}, nil
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil || slices.Contains(list, nil) {
		return nil, errors.New("must be a list of texts")
	}
	texts := make([]string, 0, len(list))
	for _, text := range list {
		texts = append(texts, *text)
	}
	return texts, nil
}

// decodeObject returns the members of the JSON object in a part of a token. Names that
// differ at most in case are refused: readers of JSON disagree on which of them counts.
func decodeObject(part string) (map[string]json.RawMessage, error) {
	encoded, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || strings.ContainsAny(part, "\r\n") || !utf8.Valid(encoded) {
		return nil, errors.New("is not unpadded base64url of UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(encoded))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	object, seen := map[string]json.RawMessage{}, map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read a name: %w", err)
		}
		text, _ := name.(string) // the decoder takes nothing else there
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("read a value: %w", err)
		}
		if folded := strings.ToLower(text); seen[folded] {
			return nil, errors.New("has a name twice")
		} else {
			seen[folded] = true
		}
		object[text] = value
	}
	if _, err := d.Token(); err != nil || d.InputOffset() != int64(len(bytes.TrimRight(encoded, " \t\r\n"))) {
		return nil, errors.New("is not one JSON object")
	}
	return object, nil
}
