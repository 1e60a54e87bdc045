package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Secret is a named secret, which projects use by its name. It is closed until its
// workspace, its uses and its hosts are given.
type Secret struct {
	// The place of a secret that projects name, such as the credentials of a bucket:
	// env:VARIABLE, or file:/path of a file that is read when the secret is used. The
	// name is in lower case. secrets.<name> alone is the same key. Defaults to none.
	Value string `koanf:"value"`
	// The id of the workspace that owns the secret. To the others it does not exist.
	// Defaults to none: nobody can use the secret.
	Workspace string `koanf:"workspace"`
	// The id of the only project that can use the secret. Defaults to none: each project
	// of the workspace can.
	Project string `koanf:"project"`
	// The purposes of the secret: header (in the requests of custom tools), import,
	// webhook, model. Defaults to none: nobody can use the secret.
	Uses []string `koanf:"uses"`
	// The hosts that the secret is sent to, such as api.example.com, or *.example.com for
	// all names below it; of an import the host of its endpoint, else of the provider
	// (docs/sources.md). Defaults to none: the secret is sent nowhere.
	Hosts []string `koanf:"hosts"`
}

// Import is the part of the configuration that concerns imports.
type Import struct {
	// The ids of the workspaces whose imports of buckets use the cloud identity of this
	// server if they name no secret: environment, files, the identity of the machine.
	// Whoever may import there reads every bucket that this identity can. Defaults to none:
	// an import names a secret, or is anonymous.
	AmbientIdentity []string `koanf:"ambient_identity"`
}

// The two places of a secret.
const (
	secretInEnvironment = "env:"
	secretInFile        = "file:"
)

// The keys of a secret: secrets.NAME is short for secrets.NAME.value.
const (
	secretKeys  = "secrets."
	secretValue = ".value"
)

// ErrNoSecret means that no secret has a name.
var ErrNoSecret = errors.New("no such secret")

// Secret returns the value of a secret. A name that is not configured is ErrNoSecret.
func (c Config) Secret(name string) ([]byte, error) {
	secret, ok := c.Secrets[name]
	if !ok {
		return nil, fmt.Errorf("secrets.%s: %w", name, ErrNoSecret)
	}
	if variable, ok := strings.CutPrefix(secret.Value, secretInEnvironment); ok {
		return []byte(c.SecretVariables[variable]), nil
	}
	value, err := os.ReadFile(strings.TrimPrefix(secret.Value, secretInFile))
	if err != nil {
		return nil, fmt.Errorf("read secrets.%s: %w", name, err)
	}
	return value, nil
}

// NamedSecrets returns the secrets without their values, by their names.
func (c Config) NamedSecrets() []knowledge.Secret {
	list := []knowledge.Secret{}
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		s := c.Secrets[name]
		list = append(list, knowledge.Secret{Name: name, Workspace: s.Workspace, Project: s.Project, Uses: s.uses(), Hosts: s.Hosts})
	}
	return list
}

func (s Secret) uses() []knowledge.SecretUse {
	list := []knowledge.SecretUse{}
	for _, use := range s.Uses {
		list = append(list, knowledge.SecretUse(use))
	}
	return list
}

// withSecrets keeps the variables that secrets name.
func (c Config) withSecrets(env map[string]string) Config {
	c.SecretVariables = map[string]string{}
	for _, s := range c.Secrets {
		if variable, ok := strings.CutPrefix(s.Value, secretInEnvironment); ok {
			c.SecretVariables[variable] = env[variable]
		}
	}
	return c
}

// closedSecrets returns a warning for each secret that nobody can use, with the line that
// opens it.
func (c Config) closedSecrets() []string {
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		s := c.Secrets[name]
		var missing []string
		for _, part := range []struct {
			name  string
			given bool
		}{{"workspace", s.Workspace != ""}, {"uses", len(s.Uses) > 0}, {"hosts", len(s.Hosts) > 0}} {
			if !part.given {
				missing = append(missing, part.name)
			}
		}
		if len(missing) > 0 {
			warnings = append(warnings, fmt.Sprintf("secrets.%s cannot be used by any project, because it does not name its %s: write %s", name, strings.Join(missing, ", "), s.line(name)))
		}
	}
	return warnings
}

// line returns the secret as it stands in a file, with examples of what it lacks.
func (s Secret) line(name string) string {
	project := ""
	if s.Project != "" {
		project = ", project: " + s.Project
	}
	return fmt.Sprintf("secrets: {%s: {value: '%s', workspace: %s%s, uses: [%s], hosts: [%s]}}", name, s.Value, or(s.Workspace, "WORKSPACE"), project,
		or(strings.Join(s.Uses, ", "), "header"), or(strings.Join(quoted(s.Hosts), ", "), "api.example.com"))
}

// quoted returns texts as YAML that begins with any character.
func quoted(texts []string) []string {
	list := []string{}
	for _, text := range texts {
		list = append(list, "'"+text+"'")
	}
	return list
}

// movedKey returns where a key of an earlier version has moved to.
func movedKey(key string) (string, bool) {
	name, ok := strings.CutPrefix(key, "secret_hosts.")
	return secretKeys + name + ".hosts", ok
}

// fullKey returns the key that a short one stands for.
func fullKey(key string) string {
	if name, ok := strings.CutPrefix(key, secretKeys); ok && name != "" && !strings.Contains(name, ".") {
		return key + secretValue
	}
	return key
}

// shortKey returns the short form of a key.
func shortKey(key string) string {
	if strings.HasPrefix(key, secretKeys) {
		return strings.TrimSuffix(key, secretValue)
	}
	return key
}

func (c Config) validateNamedSecrets() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		s := c.Secrets[name]
		variable, inEnvironment := strings.CutPrefix(s.Value, secretInEnvironment)
		path, inFile := strings.CutPrefix(s.Value, secretInFile)
		switch {
		case !knowledge.IsSecretName(name):
			errs = append(errs, fmt.Errorf("secrets.%s: a name has lower case letters, digits, - and _, at most 63 of them", name))
		case inEnvironment && c.SecretVariables[variable] == "":
			errs = append(errs, fmt.Errorf("secrets.%s names the environment variable %s, which is not set", name, variable))
		case inFile && !filepath.IsAbs(path), !inEnvironment && !inFile:
			errs = append(errs, fmt.Errorf("secrets.%s.value: write env:VARIABLE or file:/absolute/path, not the secret itself", name))
		case s.Project != "" && s.Workspace == "":
			errs = append(errs, fmt.Errorf("secrets.%s.project: secrets.%s.workspace is needed too", name, name))
		}
		for _, wrong := range knowledge.SecretFields(secretKeys+name, s.uses(), s.Hosts) {
			errs = append(errs, fmt.Errorf("%s %s", wrong.Location, wrong.Message))
		}
	}
	return errors.Join(errs...)
}
