package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ErrNoSecret means that no secret has a name.
var ErrNoSecret = errors.New("no such secret")

// The two places of a secret.
const (
	secretInEnvironment = "env:"
	secretInFile        = "file:"
)

var secretName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// HasSecret reports whether there is a secret of a name.
func (c Config) HasSecret(name string) bool {
	_, ok := c.Secrets[name]
	return ok
}

// Secret returns the value of a secret. A name that is not configured is ErrNoSecret.
func (c Config) Secret(name string) ([]byte, error) {
	place, ok := c.Secrets[name]
	if !ok {
		return nil, fmt.Errorf("secrets.%s: %w", name, ErrNoSecret)
	}
	if variable, ok := strings.CutPrefix(place, secretInEnvironment); ok {
		return []byte(c.SecretVariables[variable]), nil
	}
	value, err := os.ReadFile(strings.TrimPrefix(place, secretInFile))
	if err != nil {
		return nil, fmt.Errorf("read secrets.%s: %w", name, err)
	}
	return value, nil
}

// withSecrets keeps the variables that secrets name.
func (c Config) withSecrets(env map[string]string) Config {
	c.SecretVariables = map[string]string{}
	for _, place := range c.Secrets {
		if variable, ok := strings.CutPrefix(place, secretInEnvironment); ok {
			c.SecretVariables[variable] = env[variable]
		}
	}
	return c
}

// ErrOtherHost means that a secret is bound to other hosts.
var ErrOtherHost = errors.New("the secret is bound to other hosts")

// SecretFor returns the value of a secret that is sent to a host, "" = to one that is not
// known. A secret that is bound to other hosts is ErrOtherHost.
func (c Config) SecretFor(name, host string) ([]byte, error) {
	hosts, bound := c.SecretHosts[name]
	if bound && !slices.ContainsFunc(hosts, func(pattern string) bool { return matchesHost(pattern, host) }) {
		return nil, fmt.Errorf("secrets.%s: %w", name, ErrOtherHost)
	}
	return c.Secret(name)
}

// matchesHost reports whether a host is that of a pattern, or below it.
func matchesHost(pattern, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if below, ok := strings.CutPrefix(pattern, "*"); ok {
		return len(host) > len(below) && strings.HasSuffix(host, below)
	}
	return host != "" && host == pattern
}

// hostPattern matches what a secret can be bound to: a name, or an IP address.
var hostPattern = regexp.MustCompile(`^((\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+)$`)

func (c Config) validateSecretHosts() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.SecretHosts)) {
		if !c.HasSecret(name) {
			errs = append(errs, fmt.Errorf("secret_hosts.%s: there is no secrets.%s", name, name))
		}
		if len(c.SecretHosts[name]) == 0 {
			errs = append(errs, fmt.Errorf("secret_hosts.%s: at least one host is needed", name))
		}
		for _, host := range c.SecretHosts[name] {
			if !hostPattern.MatchString(host) {
				errs = append(errs, fmt.Errorf("secret_hosts.%s: %q is not a host such as api.example.com or *.example.com, in lower case and without a port", name, host))
			}
		}
	}
	return errors.Join(errs...)
}

func (c Config) validateNamedSecrets() error {
	errs := []error{c.validateSecretHosts()}
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		place := c.Secrets[name]
		variable, inEnvironment := strings.CutPrefix(place, secretInEnvironment)
		path, inFile := strings.CutPrefix(place, secretInFile)
		switch {
		case !secretName.MatchString(name):
			errs = append(errs, fmt.Errorf("secrets.%s: a name has lower case letters, digits, - and _, at most 63 of them", name))
		case inEnvironment && c.SecretVariables[variable] == "":
			errs = append(errs, fmt.Errorf("secrets.%s names the environment variable %s, which is not set", name, variable))
		case inFile && !filepath.IsAbs(path), !inEnvironment && !inFile:
			errs = append(errs, fmt.Errorf("secrets.%s: write env:VARIABLE or file:/absolute/path, not the secret itself", name))
		}
	}
	return errors.Join(errs...)
}
