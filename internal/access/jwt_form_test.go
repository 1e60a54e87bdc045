package access_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestForms asks with tokens that are well signed, by either kind of key, and whose
// content is not what a token may have.
func TestForms(t *testing.T) {
	t.Parallel()
	key := newRSA(t)
	set := &keySet{}
	set.keys.Store(&map[string]*rsa.PrivateKey{"one": key})
	server := httptest.NewServer(set)
	t.Cleanup(server.Close)
	signers := map[string]struct {
		alg  string
		cfg  access.Config
		sign func(input string) []byte
	}{
		"HS256": {"HS256", access.Config{Secret: jwtSecret}, func(input string) []byte {
			h := hmac.New(sha256.New, []byte(jwtSecret))
			h.Write([]byte(input))
			return h.Sum(nil)
		}},
		"JWKS": {"RS256", access.Config{JWKSURL: server.URL}, func(input string) []byte {
			sum := sha256.Sum256([]byte(input))
			signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
			if err != nil {
				t.Fatal(err)
			}
			return signature
		}},
	}
	for name, signer := range signers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := open(t, signer.cfg)
			encode := base64.RawURLEncoding.EncodeToString
			token := func(header, payload string) string {
				input := encode([]byte(header)) + "." + encode([]byte(payload))
				return input + "." + encode(signer.sign(input))
			}
			head := func(more string) string { return `{"alg":"` + signer.alg + `","kid":"one"` + more + `}` }
			later, soon := time.Now().Add(time.Hour).Unix(), time.Now().Add(10*time.Minute).Unix()
			exp := fmt.Sprintf(`"exp":%d`, later)
			body := func(members string) string {
				return `{"sub":"ann","workspace":"default","roles":["reader"],` + members + `}`
			}
			good := token(head(""), body(exp))
			for what, accepted := range map[string]string{
				"plain":                   good,
				"typ JWT":                 token(head(`,"typ":"JWT"`), body(exp)),
				"typ at+jwt":              token(head(`,"typ":"at+jwt"`), body(exp)),
				"exp with a fraction":     token(head(""), body(exp+".5")),
				"aud as a text":           token(head(""), body(exp+`,"aud":"cairn"`)),
				"aud as a list":           token(head(""), body(exp+`,"aud":["cairn","shop"]`)),
				"no groups":               token(head(""), body(exp+`,"groups":null`)),
				"claims of other systems": token(head(""), body(exp+`,"realm":{"roles":["a"]},"age":7`)),
			} {
				if _, err := i.Authenticate(t.Context(), access.Credentials{Bearer: accepted}); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			parts := strings.Split(good, ".")
			padded := parts[0] + "." + parts[1] + "=." + encode(signer.sign(parts[0]+"."+parts[1]+"="))
			broken := parts[0] + "." + parts[1][:8] + "\n" + parts[1][8:] + "." + encode(signer.sign(parts[0]+"."+parts[1][:8]+"\n"+parts[1][8:]))
			refused := map[string]string{
				"padded base64":            padded,
				"a padded signature":       good + "=",
				"a line break in base64":   broken,
				"white space":              parts[0] + ". " + parts[1] + "." + parts[2],
				"four parts":               good + ".x",
				"five parts of a JWE":      good + ".x.y",
				"two parts":                parts[0] + "." + parts[1],
				"no signature":             parts[0] + "." + parts[1] + ".",
				"alg in another case":      token(`{"alg":"`+strings.ToLower(signer.alg)+`","kid":"one"}`, body(exp)),
				"alg none":                 token(`{"alg":"none","kid":"one"}`, body(exp)),
				"alg None":                 token(`{"alg":"None","kid":"one"}`, body(exp)),
				"alg of the other kind":    token(`{"alg":"ES256","kid":"one"}`, body(exp)),
				"alg as a list":            token(`{"alg":["`+signer.alg+`"],"kid":"one"}`, body(exp)),
				"no alg":                   token(`{"kid":"one"}`, body(exp)),
				"alg twice":                token(`{"alg":"none","alg":"`+signer.alg+`","kid":"one"}`, body(exp)),
				"kid as a number":          token(`{"alg":"`+signer.alg+`","kid":1}`, body(exp)),
				"kid null":                 token(`{"alg":"`+signer.alg+`","kid":null}`, body(exp)),
				"unknown crit":             token(head(`,"crit":["exp2"],"exp2":1`), body(exp)),
				"empty crit":               token(head(`,"crit":[]`), body(exp)),
				"b64 false":                token(head(`,"b64":false`), body(exp)),
				"b64 false and critical":   token(head(`,"b64":false,"crit":["b64"]`), body(exp)),
				"typ of another token":     token(head(`,"typ":"dpop+jwt"`), body(exp)),
				"typ as a number":          token(head(`,"typ":1`), body(exp)),
				"a nested token":           token(head(`,"cty":"JWT"`), body(exp)),
				"enc":                      token(head(`,"enc":"A128GCM"`), body(exp)),
				"zip":                      token(head(`,"zip":"DEF"`), body(exp)),
				"exp as a text":            token(head(""), body(fmt.Sprintf(`"exp":"%d"`, later))),
				"exp missing":              token(head(""), body(`"x":1`)),
				"exp null":                 token(head(""), body(`"exp":null`)),
				"exp negative":             token(head(""), body(`"exp":-1`)),
				"exp zero":                 token(head(""), body(`"exp":0`)),
				"exp huge":                 token(head(""), body(`"exp":1e300`)),
				"exp beyond a float":       token(head(""), body(`"exp":1e400`)),
				"exp in milliseconds":      token(head(""), body(fmt.Sprintf(`"exp":%d000`, later))),
				"exp as a list":            token(head(""), body(fmt.Sprintf(`"exp":[%d]`, later))),
				"exp in another case":      token(head(""), body(fmt.Sprintf(`"EXP":%d`, later))),
				"exp twice":                token(head(""), body(exp+","+exp)),
				"exp in two cases":         token(head(""), body(exp+fmt.Sprintf(`,"Exp":%d`, later))),
				"nbf as a text":            token(head(""), body(exp+`,"nbf":"1"`)),
				"nbf in the future":        token(head(""), body(exp+fmt.Sprintf(`,"nbf":%d`, soon))),
				"nbf just ahead":           token(head(""), body(exp+fmt.Sprintf(`,"nbf":%d`, time.Now().Add(2*time.Minute).Unix()))),
				"nbf null":                 token(head(""), body(exp+`,"nbf":null`)),
				"iat as a text":            token(head(""), body(exp+`,"iat":"1"`)),
				"iat in the future":        token(head(""), body(exp+fmt.Sprintf(`,"iat":%d`, soon))),
				"aud with a number":        token(head(""), body(exp+`,"aud":["cairn",1]`)),
				"aud with null":            token(head(""), body(exp+`,"aud":["cairn",null]`)),
				"aud as an object":         token(head(""), body(exp+`,"aud":{}`)),
				"iss as a number":          token(head(""), body(exp+`,"iss":1`)),
				"sub as a number":          token(head(""), `{"sub":1,"workspace":"default","roles":["reader"],`+exp+`}`),
				"sub null":                 token(head(""), `{"sub":null,"workspace":"default","roles":["reader"],`+exp+`}`),
				"sub in another case":      token(head(""), `{"SUB":"ann","workspace":"default","roles":["reader"],`+exp+`}`),
				"sub twice":                token(head(""), body(exp+`,"sub":"bob"`)),
				"workspace as a list":      token(head(""), `{"sub":"ann","workspace":["default"],"roles":["reader"],`+exp+`}`),
				"roles as a text":          token(head(""), `{"sub":"ann","workspace":"default","roles":"admin",`+exp+`}`),
				"roles as an object":       token(head(""), `{"sub":"ann","workspace":"default","roles":{"admin":true},`+exp+`}`),
				"roles with a number":      token(head(""), `{"sub":"ann","workspace":"default","roles":["admin",1],`+exp+`}`),
				"groups as a text":         token(head(""), body(exp+`,"groups":"legal"`)),
				"groups with null":         token(head(""), body(exp+`,"groups":[null]`)),
				"claims as a list":         token(head(""), `[]`),
				"claims null":              token(head(""), `null`),
				"something behind":         token(head(""), body(exp)+`{}`),
				"claims cut off":           token(head(""), strings.TrimSuffix(body(exp), "}")),
				"claims that are no UTF-8": token(head(""), body(exp+`,"x":"`+"\xff"+`"`)),
				"too many bytes":           token(head(""), body(exp+`,"x":"`+strings.Repeat("x", 16<<10)+`"`)),
			}
			for what, bearer := range refused {
				if _, err := i.Authenticate(t.Context(), access.Credentials{Bearer: bearer}); !knowledge.IsCode(err, knowledge.CodeUnauthorized) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}
