package server

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/privacy/asked"
	"github.com/cairn-rag/cairn/internal/privacy/presidio"
	"github.com/cairn-rag/cairn/internal/tool"
)

// recognisers returns what finds personal data, beside what the package privacy finds by
// itself: the chat model, and the analyzer if one is configured.
func (p *platform) recognisers() privacy.Recognisers {
	all := privacy.Recognisers{knowledge.RecogniserModel: asked.New(recognisingChat{p})}
	if a := p.cfg.Privacy.Analyzer; a.URL != "" {
		all[knowledge.RecogniserAnalyzer] = presidio.New(presidio.Config{URL: a.URL, Language: a.Language, Timeout: a.Timeout}, model.NewHTTPClient())
	}
	return all
}

// recognisingChat asks the chat model of the instance for personal data.
type recognisingChat struct{ p *platform }

// CallTool implements asked.Chat.
func (c recognisingChat) CallTool(ctx context.Context, system, user string, tool asked.Tool) (string, error) {
	start := time.Now()
	arguments, usage, at, err := c.p.chats.CallTool(ctx, model.ToolRequest{
		System: system, User: user, Tool: model.Tool{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters},
	}, nil)
	c.p.countCall(at, "chat", start, err, usage)
	return arguments, err
}

// withoutPersonalData returns the function of a tool that sends its arguments to a model: where
// the project keeps personal data from models, they have placeholders.
func (p *platform) withoutPersonalData(run func(context.Context, tool.Call) (tool.Output, error)) func(context.Context, tool.Call) (tool.Output, error) {
	return func(ctx context.Context, c tool.Call) (tool.Output, error) {
		if config := c.Request.Config.Privacy; config.RedactsForProviders() {
			finder, err := p.recognisers().Finder(ctx, config.Rules(), func(f *privacy.Finder) { f.NewShield().RedactJSON(c.Arguments) })
			if err != nil {
				return tool.Output{}, err
			}
			c.Arguments = finder.NewShield().RedactJSON(c.Arguments)
		}
		return run(ctx, c)
	}
}
