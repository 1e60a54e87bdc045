package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// startModels creates the clients of the configured endpoints, serves the offline model for
// each model without an endpoint, and starts the encoder of a model in the data folder.
func (p *platform) startModels(context.Context) error {
	if err := errors.Join(p.serveOffline(), p.startEncoder()); err != nil {
		return err
	}
	p.connectModels()
	return nil
}

// usesOffline reports whether a model has no endpoint.
func (p *platform) usesOffline() bool {
	return p.cfg.Models.Chat.Offline() || p.cfg.Models.Embedding.Offline()
}

// serveOffline serves the offline model on a loopback port of its own, unless every
// model has an endpoint.
func (p *platform) serveOffline() error {
	if !p.usesOffline() {
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the offline model: %w", err)
	}
	m := localmodel.New(localmodel.Config{TokensPerSecond: p.cfg.Models.Offline.TokensPerSecond})
	p.serve(listener, m.Handler(), func() {})
	p.offline = listener.Addr().String()
	p.ends.Offline = p.offline
	return nil
}

// connectModels creates the clients of the endpoints, when the offline model is served.
func (p *platform) connectModels() {
	httpClient := model.NewHTTPClient()
	chat := model.New(p.endpoint(p.cfg.Models.Chat, localmodel.ChatModel), httpClient)
	p.chats = model.NewChats(p.log, chat, p.failover(p.cfg.Models.Chat, httpClient)...)
	embedding := p.endpoint(p.cfg.Models.Embedding, localmodel.EmbeddingModel)
	if p.encoder.address != "" {
		embedding.BaseURL, embedding.InProcess = "http://"+p.encoder.address+"/v1", true
	}
	p.embed = model.New(embedding, httpClient)
	if others := p.failover(p.cfg.Models.Embedding, httpClient); len(others) > 0 {
		p.embed = p.embed.WithFailover(p.log, others...)
	}
	at := p.cfg.Models.Embedding
	p.embeddings = &embeddings{instance: p.embed, offline: at.Offline(), local: at.Local(), others: map[string]ingestion.Embedder{}}
	p.embeddings.revisions = p.revisions(httpClient)
	if m := p.cfg.Models.Image; m.BaseURL != "" {
		p.paint = model.New(p.endpoint(m, ""), httpClient).WithFailover(p.log, p.failover(m, httpClient)...)
	}
	if m := p.cfg.Models.Transcription; m.BaseURL != "" {
		p.transcribe = model.New(p.endpoint(m, ""), httpClient).WithFailover(p.log, p.failover(m, httpClient)...)
	}
}

// chatModels returns the only chat models that can be asked, or none where an endpoint may
// serve others: an endpoint need not list all the names that it knows. The offline model
// knows no name but its own.
func (p *platform) chatModels() []string {
	chat := p.cfg.Models.Chat
	if !chat.Offline() {
		return nil
	}
	names := []string{localmodel.ChatModel}
	for _, f := range chat.Failover {
		names = append(names, f.Model)
	}
	return names
}

// endpoint is a configured model, or the offline one, by its name there.
func endpoint(m config.Model, offline, name string) model.Endpoint {
	e := model.Endpoint{
		Provider: m.Provider(), BaseURL: m.BaseURL, Model: m.Model, APIKey: m.APIKey, Dimensions: m.Dimensions,
		Azure: m.Type == config.Azure, APIVersion: m.APIVersion, Deployment: m.Deployment,
		MaxTokens: m.MaxTokens, Timeout: m.Timeout, IdleTimeout: m.IdleTimeout,
	}
	if m.Offline() {
		e.BaseURL, e.Model, e.InProcess = "http://"+offline+"/v1", name, true
	}
	return e
}

// endpoint is the endpoint of a configured model, or of the offline one by its name there,
// with the prices of the models.
func (p *platform) endpoint(m config.Model, name string) model.Endpoint {
	e := endpoint(m, p.offline, name)
	e.Prices = p.prices
	return e
}

// prices returns what the configured models charge, nil if nothing is known.
func prices(m config.Models) *model.Prices {
	if len(m.Prices) == 0 {
		return nil
	}
	known := &model.Prices{Currency: m.Currency, Models: map[string]model.Price{}}
	for _, price := range m.Prices {
		known.Models[price.Model] = model.Price{Input: price.Input, Output: price.Output}
	}
	return known
}

// currency returns the currency of the costs of usage, "" = there are no prices.
func (p *platform) currency() string {
	if p.prices == nil {
		return ""
	}
	return p.prices.Currency
}

// failover returns the clients of the endpoints that are asked where the endpoint of m fails.
func (p *platform) failover(m config.Model, client *http.Client) []*model.Client {
	var others []*model.Client
	for _, f := range m.Failover {
		m.Endpoint = f
		others = append(others, model.New(p.endpoint(m, ""), client))
	}
	return others
}
