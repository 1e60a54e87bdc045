package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// minEmbeddedTokens is the least number of tokens that leaves room for a text beside
// what names its document.
const minEmbeddedTokens = 128

func (m Models) validate() error {
	var errs []error
	for _, named := range m.all() {
		errs = append(errs, named.validate())
	}
	return errors.Join(append(errs, m.Embedding.validateSame("models.embedding"), m.validatePrices())...)
}

// currency matches the codes of currencies (ISO 4217).
var currency = regexp.MustCompile(`^[A-Z]{3}$`)

func (m Models) validatePrices() error {
	var errs []error
	if m.Currency != "" && !currency.MatchString(m.Currency) {
		errs = append(errs, fmt.Errorf("models.currency %q: write the three letters of a currency, such as USD or EUR", m.Currency))
	}
	seen := map[string]bool{}
	for i, p := range m.Prices {
		at := fmt.Sprintf("models.prices.%d", i)
		switch {
		case p.Model == "":
			errs = append(errs, fmt.Errorf("%s.model: the name of the model is needed", at))
		case seen[p.Model]:
			errs = append(errs, fmt.Errorf("%s.model: %s has a price already", at, p.Model))
		}
		seen[p.Model] = true
		errs = append(errs, checkPrice(at+".input", p.Input), checkPrice(at+".output", p.Output))
	}
	return errors.Join(errs...)
}

// maxPrice bounds a price of a million tokens.
const maxPrice = 1_000_000

func checkPrice(key string, price float64) error {
	if price >= 0 && price <= maxPrice {
		return nil
	}
	return fmt.Errorf("%s is %v: write a price of a million tokens from 0 to %d", key, price, maxPrice)
}

func (m namedModel) validate() error {
	var errs []error
	if m.Local() && slices.Contains(m.types, Local) {
		return m.validateLocal()
	}
	if m.BaseURL == "" {
		typed := m.types[0] == "" && m.Type != ""
		if m.Model.Model != "" || m.KeyEnv != "" || m.Dimensions != 0 || typed || len(m.Failover) > 0 {
			errs = append(errs, fmt.Errorf("%s names no endpoint: set %s.base_url, or leave the section out", m.key, m.key))
		}
	}
	errs = append(errs, m.Endpoint.validate(m.key, m.types))
	for i, f := range m.Failover {
		at := m.failoverKey(i)
		if f.BaseURL == "" {
			errs = append(errs, fmt.Errorf("%s.base_url: the address of the endpoint is needed", at))
			continue
		}
		errs = append(errs, f.validate(at, slices.DeleteFunc(slices.Clone(m.types), func(t string) bool { return t == Local })))
	}
	errs = append(errs, checkRange(m.key+".dimensions", int64(m.Dimensions), 0, 65536))
	if m.MaxTokens != 0 {
		errs = append(errs, checkRange(m.key+".max_tokens", int64(m.MaxTokens), minEmbeddedTokens, 1e6))
	}
	return errors.Join(errs...)
}

// validateLocal checks a model in the data folder.
func (m namedModel) validateLocal() error {
	switch {
	case m.BaseURL != "" || m.KeyEnv != "" || m.APIVersion != "" || m.Deployment != "" || m.Dimensions != 0 || len(m.Failover) > 0:
		return fmt.Errorf("%s.type is local: beside it only %s.model, max_tokens and the timeouts can be set", m.key, m.key)
	case m.Model.Model == "":
		return fmt.Errorf("%s.model: the name of a model that cairn models list shows is needed", m.key)
	}
	return errors.Join(checkTimeout(m.key+".timeout", m.Timeout), checkTimeout(m.key+".idle_timeout", m.IdleTimeout))
}

func (e Endpoint) validate(key string, types []string) error {
	errs := []error{checkURL(key+".base_url", e.BaseURL)}
	if e.BaseURL != "" && e.Model == "" {
		errs = append(errs, fmt.Errorf("%s.model: the name of the model at %s is needed", key, e.Provider()))
	}
	errs = append(errs, e.validateType(key, types), checkTimeout(key+".timeout", e.Timeout), checkTimeout(key+".idle_timeout", e.IdleTimeout))
	return errors.Join(errs...)
}

// validateType refuses keys of Azure OpenAI beside another type.
func (e Endpoint) validateType(key string, types []string) error {
	if e.Type != Azure {
		if e.APIVersion != "" || e.Deployment != "" {
			return fmt.Errorf("%s.api_version and deployment are for %s.type azure", key, key)
		}
		return checkChoice(key+".type", e.Type, types...)
	}
	if u, err := url.Parse(e.BaseURL); err == nil && strings.Contains(u.Path+"/", "/openai/") {
		return fmt.Errorf("%s.base_url: for azure it is the address of the resource, such as https://name.openai.azure.com, without /openai and what follows it", key)
	}
	if e.APIVersion != "" && !azureVersion.MatchString(e.APIVersion) {
		return fmt.Errorf("%s.api_version %q: write a version of Azure's API such as 2024-10-21, preview, or leave it out", key, e.APIVersion)
	}
	return checkChoice(key+".type", e.Type, types...)
}

// validateSame refuses a failover to another model: its vectors cannot be compared.
func (m Model) validateSame(key string) error {
	for i, f := range m.Failover {
		if f.Model != m.Model {
			return fmt.Errorf("%s.failover.%d.model is %s: it must be %s as %s.model, because vectors of two models cannot be compared", key, i, f.Model, m.Model, key)
		}
	}
	return nil
}

// azureVersion matches the versions of Azure's API.
var azureVersion = regexp.MustCompile(`^(20\d\d-\d\d-\d\d(-preview)?|preview)$`)
