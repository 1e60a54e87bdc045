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

func (c Config) validateNamedSecrets() error {
	var errs []error
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
