package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// SecretUse is a purpose for which a named secret may be used.
type SecretUse string

// The uses of named secrets.
const (
	SecretInHeader  SecretUse = "header"  // in a header of the requests of a tool
	SecretInImport  SecretUse = "import"  // as the credentials of an import
	SecretInWebhook SecretUse = "webhook" // in the requests to a webhook
	SecretInModel   SecretUse = "model"   // as the key of a model's endpoint
)

// SecretUses returns the uses that a named secret can have.
func SecretUses() []SecretUse {
	return []SecretUse{SecretInHeader, SecretInImport, SecretInWebhook, SecretInModel}
}

// MaxSecretBytes is the largest value of a named secret.
const MaxSecretBytes = 64 << 10

// MaxSecretHosts is the largest number of hosts that one named secret may be sent to.
const MaxSecretHosts = 50

// Secret is a named secret without its value. An empty field closes it: a secret without a
// workspace belongs to nobody, one without uses is not used, and one without hosts is not
// sent.
type Secret struct {
	Name      string
	Workspace string
	Project   string // the only one that may use it, "" = each project of the workspace
	Uses      []SecretUse
	Hosts     []string // such as api.example.com, or *.example.com for all names below it
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SecretNeed is a use of a named secret by a project.
type SecretNeed struct {
	Workspace string
	Project   string // "" = of the workspace alone
	Use       SecretUse
	Host      string // that the secret is sent to, or that signed requests go to
}

// BelongsTo reports whether a project owns the secret, by itself or by its workspace.
func (s Secret) BelongsTo(workspace, project string) bool {
	return workspace != "" && s.Workspace == workspace && (s.Project == "" || s.Project == project)
}

// Allows reports whether the secret may be used for a need.
func (s Secret) Allows(n SecretNeed) bool {
	return s.BelongsTo(n.Workspace, n.Project) && slices.Contains(s.Uses, n.Use) &&
		slices.ContainsFunc(s.Hosts, func(pattern string) bool { return matchesHost(pattern, n.Host) })
}

// matchesHost reports whether a host is the host of a pattern, or below it.
func matchesHost(pattern, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if below, ok := strings.CutPrefix(pattern, "*"); ok {
		return len(host) > len(below) && strings.HasSuffix(host, below)
	}
	return host != "" && host == pattern
}

var (
	secretName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	secretHost = regexp.MustCompile(`^((\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+)$`)
)

// IsSecretName reports whether a text can name a secret.
func IsSecretName(name string) bool { return secretName.MatchString(name) }

// IsSecretHost reports whether a secret can be bound to a text: the name of a host, a
// pattern of names such as *.example.com, or an IP address, without a port.
func IsSecretHost(host string) bool { return len(host) <= 253 && secretHost.MatchString(host) }

// SecretFields returns what is wrong with the uses and the hosts of a secret, as found at
// location.
func SecretFields(location string, uses []SecretUse, hosts []string) []Field {
	var wrong []Field
	for _, use := range uses {
		if !slices.Contains(SecretUses(), use) {
			wrong = append(wrong, Field{location + ".uses", Messagef("has %q: write some of header, import, webhook and model", string(use))})
		}
	}
	for _, host := range hosts {
		if !IsSecretHost(host) {
			wrong = append(wrong, Field{location + ".hosts", Messagef("has %q: write a host such as api.example.com or *.example.com, in lower case and without a port", host)})
		}
	}
	return wrong
}

// NoSecret returns what is wrong with a name that a project cannot use as a secret. It is
// the same for a name that does not exist and for the secret of another owner.
func NoSecret(n SecretNeed) string {
	return Messagef("is no secret that this project may use for %s at %s: store it with PUT …/secrets/NAME, or have an operator add it to the configuration, with this use and this host", string(n.Use), n.Host)
}

// MissingSecret returns the error of a name that a project cannot use as a secret.
func MissingSecret(name string, n SecretNeed) *Error {
	return &Error{Code: CodeInvalid, Message: Messagef("%q ", name) + NoSecret(n)}
}
