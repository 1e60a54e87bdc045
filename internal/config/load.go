package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

// The parts of a variable's name.
const (
	variablePrefix = "CAIRN_"
	levelSeparator = "__"
	configVariable = "CAIRN_CONFIG"
)

// The variables with our prefix that are no configuration keys: where the file
// is, and what client commands take. The variables of tests begin with CAIRN_TEST_.
var otherVariables = []string{configVariable, "CAIRN_URL", "CAIRN_KEY"}

// Options are what a configuration is read from.
type Options struct {
	// File is the path of a YAML file. Defaults to the value of CAIRN_CONFIG, and
	// without that to no file.
	File string
	// Environ is the environment, as os.Environ returns it. Defaults to an empty
	// one.
	Environ []string
	// Overrides are values by key ("temporal.listen"), which win over the file
	// and the environment. Defaults to none.
	Overrides map[string]any
}

// Load reads, completes and checks a configuration. Its errors are for the
// person who wrote it and name the key. Config.Warnings names the variables that
// begin with CAIRN_ and set nothing, and the secrets that nobody can use.
func Load(options Options) (Config, error) {
	env := environment(options.Environ)
	values := koanf.New(".")
	var warnings []string
	sources := []func(*koanf.Koanf) error{
		func(k *koanf.Koanf) error { return loadFile(k, options.File, env) },
		func(k *koanf.Koanf) (err error) { warnings, err = loadVariables(k, env); return err },
		func(k *koanf.Koanf) error { return set(k, "", options.Overrides) },
	}
	for _, load := range sources {
		if err := load(values); err != nil {
			return Config{}, err
		}
	}
	if err := joinSections(values); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	c := numbers() // before what is given, so that a zero that is given is seen
	c.Warnings = warnings
	if err := values.Unmarshal("", &c); err != nil {
		return Config{}, fmt.Errorf("configuration: %s", plain(err))
	}
	c, err := c.withDefaults(env)
	if err != nil {
		return Config{}, err
	}
	c.Warnings = append(c.Warnings, c.closedSecrets()...)
	return c, c.validate()
}

// environment returns the variables by name.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

func loadFile(k *koanf.Koanf, path string, env map[string]string) error {
	if path == "" {
		path = env[configVariable]
	}
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	if err := set(k, "", values); err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	return nil
}

// loadVariables sets the keys that variables name. It returns a warning for each
// variable that names no key: an orchestrator injects variables by itself, and
// none of them may stop the start.
func loadVariables(k *koanf.Koanf, env map[string]string) (warnings []string, err error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		key, ours := keyOf(name)
		if !ours || isInjected(name, env[name]) {
			continue
		}
		if _, ok := kindOf(key); !ok {
			warnings = append(warnings, fmt.Sprintf("environment variable %s is ignored: %s", name, unknownKey(key)))
			continue
		}
		if err := set(k, "", map[string]any{key: env[name]}); err != nil {
			errs = append(errs, fmt.Errorf("environment variable %s: %w", name, err))
		}
	}
	return warnings, errors.Join(errs...)
}

// Kubernetes sets these variables in every pod for a service whose name is cairn
// or begins with "cairn-". A name that ends in _PORT could also be a mistake: it
// is injected only if its value is an address.
var (
	injectedName = regexp.MustCompile(`^CAIRN(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	injectedPort = regexp.MustCompile(`^CAIRN(_[A-Z0-9]+)*_PORT=(tcp|udp|sctp)://`)
)

// isInjected reports whether an orchestrator set a variable.
func isInjected(name, value string) bool {
	return injectedName.MatchString(name) || injectedPort.MatchString(name+"="+value)
}

// keyOf is the key that a variable sets.
func keyOf(variable string) (string, bool) {
	name, ok := strings.CutPrefix(variable, variablePrefix)
	if !ok || strings.HasPrefix(name, "TEST_") {
		return "", false
	}
	if slices.Contains(otherVariables, variable) {
		return "", false
	}
	return strings.ToLower(strings.ReplaceAll(name, levelSeparator, ".")), true
}

// variableOf is the variable that sets a key.
func variableOf(key string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(key, ".", levelSeparator))
}

// set sets the values of a map, which may be nested or have dots in its keys.
func set(k *koanf.Koanf, path string, values map[string]any) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		key := strings.TrimPrefix(path+"."+name, ".")
		switch v := value.(type) {
		case nil: // a section whose keys are all commented out
		case map[string]any:
			errs = append(errs, set(k, key, v))
		case []any:
			errs = append(errs, setList(k, key, v))
		default:
			errs = append(errs, setKey(k, key, v))
		}
	}
	return errors.Join(errs...)
}

// setList sets the values of a list. The sections of a list are numbered keys until all
// sources are read, so that a later source can change one of them.
func setList(k *koanf.Koanf, key string, list []any) error {
	if kind, ok := kindOf(key); !ok || !isSections(kind) {
		return setKey(k, key, list)
	}
	var errs []error
	for i, element := range list {
		section, ok := element.(map[string]any)
		if !ok {
			return fmt.Errorf("%s takes a list of sections", key)
		}
		errs = append(errs, set(k, fmt.Sprintf("%s.%d", key, i), section))
	}
	return errors.Join(errs...)
}

// joinSections makes lists of the numbered sections.
func joinSections(k *koanf.Koanf) error {
	for _, f := range fields() {
		numbered, ok := k.Get(f.key).(map[string]any)
		if !ok || !isSections(f.kind) {
			continue
		}
		list := make([]any, len(numbered))
		for i := range list {
			section, ok := numbered[strconv.Itoa(i)]
			if !ok {
				return fmt.Errorf("%s has %d sections, and none of the number %d: the first one has 0", f.key, len(numbered), i)
			}
			list[i] = section
		}
		k.Delete(f.key)
		if err := k.Set(f.key, list); err != nil {
			return fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return nil
}

func setKey(k *koanf.Koanf, key string, value any) error {
	key = fullKey(key)
	kind, ok := kindOf(key)
	if !ok {
		return unknownKey(key)
	}
	if isSections(kind) {
		first := strings.ToUpper(kind.Elem().Field(0).Tag.Get("koanf"))
		return fmt.Errorf("%s is a list of sections; in the environment its keys are %s__0__%s and so on", key, variableOf(key), first)
	}
	if date, ok := value.(time.Time); ok { // YAML reads the versions of some APIs as days
		value = date.Format(time.DateOnly)
	}
	if text, ok := value.(string); ok && kind.Kind() == reflect.Slice {
		value = splitList(text)
	}
	if list, ok := value.([]any); ok != (kind.Kind() == reflect.Slice) {
		if ok {
			return fmt.Errorf("%s takes one value, not %d", key, len(list))
		}
		if _, ok := value.([]string); !ok {
			return fmt.Errorf("%s takes a list", key)
		}
	}
	return k.Set(key, value)
}

func splitList(text string) []string {
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// plain takes the decoder's own words off its errors.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "decoding failed due to the following error(s):")
	return strings.Join(strings.Fields(text), " ")
}
