package server

import (
	"context"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/library"
	"github.com/cairn-rag/cairn/internal/safedial"
)

// LocalModel is a model in a data folder.
type LocalModel struct {
	library.Model

	Used bool `json:"used"` // by this configuration
}

// AddModel adds a model to the data folder. An address that the caller gives is reached as addresses of
// users are: not in this network, unless egress.allow has it.
func AddModel(ctx context.Context, cfg config.Config, name, from, sha256 string, progress func(done, total int64)) (LocalModel, error) {
	client := model.NewHTTPClient()
	client.CheckRedirect = nil
	if from != "" {
		client = safedial.New(safedial.Config{Allow: cfg.Egress.Allow, Deny: cfg.Egress.Deny}).Client(0)
	}
	m, err := library.Add(ctx, cfg.Data, library.Request{Name: name, From: from, SHA256: sha256, Client: client, Progress: progress, Check: checkWeights})
	if err != nil {
		return LocalModel{}, modelError(err)
	}
	return localModel(cfg, m), nil
}

// Models returns the models in the data folder.
func Models(cfg config.Config) ([]LocalModel, error) {
	models, err := library.List(cfg.Data)
	if err != nil {
		return nil, err
	}
	list := make([]LocalModel, len(models))
	for i, m := range models {
		list[i] = localModel(cfg, m)
	}
	return list, nil
}

// RemoveModel removes a model from the data folder, unless the configuration names it.
func RemoveModel(cfg config.Config, name string) error {
	if m := cfg.Models.Embedding; m.Local() && m.Model == name {
		return ConfigError{"models.embedding names " + name + ": name another model there, restart the server and reindex the projects first"}
	}
	return modelError(library.Remove(cfg.Data, name))
}

func localModel(cfg config.Config, m library.Model) LocalModel {
	at := cfg.Models.Embedding
	return LocalModel{m, at.Local() && at.Model == m.Name}
}

// modelError is wrong use where the caller can name something else.
func modelError(err error) error {
	if knowledge.IsCode(err, knowledge.CodeInvalid) || knowledge.IsCode(err, knowledge.CodeNotFound) {
		return ConfigError{publicMessage(err)}
	}
	return err
}
