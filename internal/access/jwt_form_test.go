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
	signers := map[string]signer{
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
			for what, token := range signer.acceptedForms() {
				if _, err := i.Authenticate(t.Context(), access.Credentials{Bearer: token}); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			for what, token := range signer.refusedForms() {
				if _, err := i.Authenticate(t.Context(), access.Credentials{Bearer: token}); !knowledge.IsCode(err, knowledge.CodeUnauthorized) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// signer signs tokens with one kind of key.
type signer struct {
	alg  string
	cfg  access.Config // accepts the key
	sign func(input string) []byte
}

// token returns a signed token, whatever its header and payload are.
func (s signer) token(header, payload string) string {
	input := encoded(header) + "." + encoded(payload)
	return input + "." + s.signature(input)
}

func (s signer) signature(input string) string { return encoded(string(s.sign(input))) }

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// head returns the header of a token, with more members.
func (s signer) head(more string) string { return `{"alg":"` + s.alg + `","kid":"one"` + more + `}` }

// claims returns the payload of a token for a reader, with more members.
func claims(members string) string {
	return `{"sub":"ann","workspace":"default","roles":["reader"],` + members + `}`
}

// inAnHour returns the time at which the tokens expire.
func inAnHour() int64 { return time.Now().Add(time.Hour).Unix() }

func (s signer) acceptedForms() map[string]string {
	exp := fmt.Sprintf(`"exp":%d`, inAnHour())
	return map[string]string{
		"plain":                   s.token(s.head(""), claims(exp)),
		"typ JWT":                 s.token(s.head(`,"typ":"JWT"`), claims(exp)),
		"typ at+jwt":              s.token(s.head(`,"typ":"at+jwt"`), claims(exp)),
		"exp with a fraction":     s.token(s.head(""), claims(exp+".5")),
		"aud as a text":           s.token(s.head(""), claims(exp+`,"aud":"cairn"`)),
		"aud as a list":           s.token(s.head(""), claims(exp+`,"aud":["cairn","shop"]`)),
		"no groups":               s.token(s.head(""), claims(exp+`,"groups":null`)),
		"claims of other systems": s.token(s.head(""), claims(exp+`,"realm":{"roles":["a"]},"age":7`)),
	}
}

func (s signer) refusedForms() map[string]string {
	later, soon := inAnHour(), time.Now().Add(10*time.Minute).Unix()
	exp := fmt.Sprintf(`"exp":%d`, later)
	good := s.token(s.head(""), claims(exp))
	parts := strings.Split(good, ".")
	padded := parts[0] + "." + parts[1] + "=." + s.signature(parts[0]+"."+parts[1]+"=")
	broken := parts[0] + "." + parts[1][:8] + "\n" + parts[1][8:] + "." + s.signature(parts[0]+"."+parts[1][:8]+"\n"+parts[1][8:])
	return map[string]string{
		"padded base64":            padded,
		"a padded signature":       good + "=",
		"a line break in base64":   broken,
		"white space":              parts[0] + ". " + parts[1] + "." + parts[2],
		"four parts":               good + ".x",
		"five parts of a JWE":      good + ".x.y",
		"two parts":                parts[0] + "." + parts[1],
		"no signature":             parts[0] + "." + parts[1] + ".",
		"alg in another case":      s.token(`{"alg":"`+strings.ToLower(s.alg)+`","kid":"one"}`, claims(exp)),
		"alg none":                 s.token(`{"alg":"none","kid":"one"}`, claims(exp)),
		"alg None":                 s.token(`{"alg":"None","kid":"one"}`, claims(exp)),
		"alg of the other kind":    s.token(`{"alg":"ES256","kid":"one"}`, claims(exp)),
		"alg as a list":            s.token(`{"alg":["`+s.alg+`"],"kid":"one"}`, claims(exp)),
		"no alg":                   s.token(`{"kid":"one"}`, claims(exp)),
		"alg twice":                s.token(`{"alg":"none","alg":"`+s.alg+`","kid":"one"}`, claims(exp)),
		"kid as a number":          s.token(`{"alg":"`+s.alg+`","kid":1}`, claims(exp)),
		"kid null":                 s.token(`{"alg":"`+s.alg+`","kid":null}`, claims(exp)),
		"unknown crit":             s.token(s.head(`,"crit":["exp2"],"exp2":1`), claims(exp)),
		"empty crit":               s.token(s.head(`,"crit":[]`), claims(exp)),
		"b64 false":                s.token(s.head(`,"b64":false`), claims(exp)),
		"b64 false and critical":   s.token(s.head(`,"b64":false,"crit":["b64"]`), claims(exp)),
		"typ of another token":     s.token(s.head(`,"typ":"dpop+jwt"`), claims(exp)),
		"typ as a number":          s.token(s.head(`,"typ":1`), claims(exp)),
		"a nested token":           s.token(s.head(`,"cty":"JWT"`), claims(exp)),
		"enc":                      s.token(s.head(`,"enc":"A128GCM"`), claims(exp)),
		"zip":                      s.token(s.head(`,"zip":"DEF"`), claims(exp)),
		"exp as a text":            s.token(s.head(""), claims(fmt.Sprintf(`"exp":"%d"`, later))),
		"exp missing":              s.token(s.head(""), claims(`"x":1`)),
		"exp null":                 s.token(s.head(""), claims(`"exp":null`)),
		"exp negative":             s.token(s.head(""), claims(`"exp":-1`)),
		"exp zero":                 s.token(s.head(""), claims(`"exp":0`)),
		"exp huge":                 s.token(s.head(""), claims(`"exp":1e300`)),
		"exp beyond a float":       s.token(s.head(""), claims(`"exp":1e400`)),
		"exp in milliseconds":      s.token(s.head(""), claims(fmt.Sprintf(`"exp":%d000`, later))),
		"exp as a list":            s.token(s.head(""), claims(fmt.Sprintf(`"exp":[%d]`, later))),
		"exp in another case":      s.token(s.head(""), claims(fmt.Sprintf(`"EXP":%d`, later))),
		"exp twice":                s.token(s.head(""), claims(exp+","+exp)),
		"exp in two cases":         s.token(s.head(""), claims(exp+fmt.Sprintf(`,"Exp":%d`, later))),
		"nbf as a text":            s.token(s.head(""), claims(exp+`,"nbf":"1"`)),
		"nbf in the future":        s.token(s.head(""), claims(exp+fmt.Sprintf(`,"nbf":%d`, soon))),
		"nbf just ahead":           s.token(s.head(""), claims(exp+fmt.Sprintf(`,"nbf":%d`, time.Now().Add(2*time.Minute).Unix()))),
		"nbf null":                 s.token(s.head(""), claims(exp+`,"nbf":null`)),
		"iat as a text":            s.token(s.head(""), claims(exp+`,"iat":"1"`)),
		"iat in the future":        s.token(s.head(""), claims(exp+fmt.Sprintf(`,"iat":%d`, soon))),
		"aud with a number":        s.token(s.head(""), claims(exp+`,"aud":["cairn",1]`)),
		"aud with null":            s.token(s.head(""), claims(exp+`,"aud":["cairn",null]`)),
		"aud as an object":         s.token(s.head(""), claims(exp+`,"aud":{}`)),
		"iss as a number":          s.token(s.head(""), claims(exp+`,"iss":1`)),
		"sub as a number":          s.token(s.head(""), `{"sub":1,"workspace":"default","roles":["reader"],`+exp+`}`),
		"sub null":                 s.token(s.head(""), `{"sub":null,"workspace":"default","roles":["reader"],`+exp+`}`),
		"sub in another case":      s.token(s.head(""), `{"SUB":"ann","workspace":"default","roles":["reader"],`+exp+`}`),
		"sub twice":                s.token(s.head(""), claims(exp+`,"sub":"bob"`)),
		"workspace as a list":      s.token(s.head(""), `{"sub":"ann","workspace":["default"],"roles":["reader"],`+exp+`}`),
		"roles as a text":          s.token(s.head(""), `{"sub":"ann","workspace":"default","roles":"admin",`+exp+`}`),
		"roles as an object":       s.token(s.head(""), `{"sub":"ann","workspace":"default","roles":{"admin":true},`+exp+`}`),
		"roles with a number":      s.token(s.head(""), `{"sub":"ann","workspace":"default","roles":["admin",1],`+exp+`}`),
		"groups as a text":         s.token(s.head(""), claims(exp+`,"groups":"legal"`)),
		"groups with null":         s.token(s.head(""), claims(exp+`,"groups":[null]`)),
		"claims as a list":         s.token(s.head(""), `[]`),
		"claims null":              s.token(s.head(""), `null`),
		"something behind":         s.token(s.head(""), claims(exp)+`{}`),
		"claims cut off":           s.token(s.head(""), strings.TrimSuffix(claims(exp), "}")),
		"claims that are no UTF-8": s.token(s.head(""), claims(exp+`,"x":"`+"\xff"+`"`)),
		"too many bytes":           s.token(s.head(""), claims(exp+`,"x":"`+strings.Repeat("x", 16<<10)+`"`)),
	}
}
