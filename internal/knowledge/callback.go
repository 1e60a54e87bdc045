package knowledge

import (
	"fmt"
	"strings"
)

// WebhookCallback is the type of the one request that tells a run's answer to the address
// that the question named.
const WebhookCallback WebhookType = "callback"

// Callback is where the answer of a run is sent.
type Callback struct {
	URL     string `json:"url"`
	Headers string `json:"headers,omitempty"` // sealed JSON of the headers that the request has; "" = none
}

// The bounds of the headers of a callback.
const (
	maxCallbackHeaders = 20
	maxCallbackHeader  = 4000 // bytes of a value
)

// ownHeaders are the headers of a callback that Cairn sets.
var ownHeaders = map[string]bool{
	"host": true, "content-length": true, "content-type": true, "content-encoding": true, "transfer-encoding": true, "connection": true,
	"te": true, "trailer": true, "upgrade": true, "keep-alive": true, "expect": true, "proxy-connection": true,
	"webhook-id": true, "webhook-timestamp": true, "webhook-signature": true,
}

// CallbackHeaderFields returns what is wrong with the headers of a callback.
func CallbackHeaderFields(location string, headers map[string]string) []Field {
	if len(headers) > maxCallbackHeaders {
		return []Field{{location, fmt.Sprintf("must be at most %d", maxCallbackHeaders)}}
	}
	var wrong []Field
	for name, value := range headers {
		switch {
		case name == "" || len(name) > 200 || strings.ContainsFunc(name, notInHeaderName):
			wrong = append(wrong, Field{location, "must have names of letters, digits and -_.!#$%&'*+^`|~"})
		case ownHeaders[strings.ToLower(name)]:
			wrong = append(wrong, Field{location + "." + name, "is a header that Cairn sets"})
		case len(value) > maxCallbackHeader || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }):
			wrong = append(wrong, Field{location + "." + name, fmt.Sprintf("must be at most %d printable ASCII characters", maxCallbackHeader)})
		}
	}
	return wrong
}

func notInHeaderName(c rune) bool {
	return c <= ' ' || c > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}
