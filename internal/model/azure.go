package model

import (
	"net/http"
	"net/url"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// chatPath is the path of chat completions below an endpoint's address.
const chatPath = "/chat/completions"

// previewVersion is the version of Azure's API that has no deployments in its addresses.
const previewVersion = "preview"

// byDeployment reports whether the addresses of an endpoint name deployments.
func (e Endpoint) byDeployment() bool {
	return e.Azure && e.APIVersion != "" && e.APIVersion != previewVersion
}

// root returns the address before the path of a call.
func (e Endpoint) root() string {
	base := strings.TrimRight(e.BaseURL, "/")
	switch {
	case e.byDeployment():
		return base + "/openai/deployments/" + url.PathEscape(e.wireModel(e.Model))
	case e.Azure:
		return base + "/openai/v1"
	default:
		return base
	}
}

// address returns the address of a call of the endpoint's own model.
func (e Endpoint) address(path string) string {
	if e.APIVersion == "" {
		return e.root() + path
	}
	return e.root() + path + "?api-version=" + url.QueryEscape(e.APIVersion)
}

// chatAddress returns the address of chat completions by a model, by its name in the request.
func (e Endpoint) chatAddress(wireName string) string {
	e.Model, e.Deployment = wireName, ""
	return e.address(chatPath)
}

// authorize adds the key to a request.
func (e Endpoint) authorize(r *http.Request) {
	switch {
	case e.APIKey == "":
	case e.Azure:
		r.Header.Set(openai.AzureAPIKeyHeader, e.APIKey)
	default:
		r.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
}

// wireModel returns the name by which the endpoint knows a model.
func (e Endpoint) wireModel(name string) string {
	if name == e.Model && e.Deployment != "" {
		return e.Deployment
	}
	return name
}

// config returns the configuration of the library for the endpoint. Requests name models
// as wireModel does.
func (e Endpoint) config() openai.ClientConfig {
	if e.byDeployment() {
		config := openai.DefaultAzureConfig(e.APIKey, e.BaseURL)
		config.APIVersion, config.AzureModelMapperFunc = e.APIVersion, url.PathEscape
		return config
	}
	config := openai.DefaultConfig(e.APIKey)
	config.BaseURL = e.root()
	if e.Azure {
		// The library's name for addresses without deployments and a key in api-key.
		config.APIType, config.APIVersion = openai.APITypeCloudflareAzure, e.APIVersion
	}
	return config
}
