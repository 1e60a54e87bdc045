package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/sandbox"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/tool/custom"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// tools returns the tools of the instance beside documents_rag. A project gets one that
// is in toolNames only if it sets it.
func (p *platform) tools() tool.Set {
	set := tool.Set{p.codeInterpreter()}
	if p.paint != nil {
		images := tool.NewImageGeneration(p.picture, runfile.New(p.blobs))
		images.Run = p.withoutPersonalData(images.Run)
		set = append(set, images)
	}
	return set
}

// toolSources returns the tools that projects define.
func (p *platform) toolSources() []tool.Source {
	return []tool.Source{custom.New(p.dialer.Client(custom.Limit), p.credentials()).Of}
}

// agents makes the runs of projects that other projects ask.
func (p *platform) agents() answering.Agents {
	return question.New(question.Config{}, question.Deps{Store: p.store, Blobs: p.blobs, Log: p.log, Now: time.Now})
}

// toolNames returns the tools that a project may set. The API may run without a worker,
// so they depend on the configuration alone.
func (p *platform) toolNames() []string {
	names := []string{knowledge.ToolCodeInterpreter}
	if p.cfg.WebSearch.Provider != "" {
		names = append(names, knowledge.ToolWebSearch)
	}
	if p.paint != nil {
		names = append(names, knowledge.ToolImageGeneration)
	}
	return names
}

// picture makes a picture with models.image.
func (p *platform) picture(ctx context.Context, name, prompt, size, key string) ([]byte, error) {
	return p.paint.Image(ctx, model.ImageRequest{Model: name, Prompt: prompt, Size: size, Key: key})
}

// steps returns what runs the steps of the pipelines of projects.
func (p *platform) steps() *pipeline.Runner {
	return &pipeline.Runner{Projects: p.store, Secrets: p.secrets, Sender: webhook.NewSender(p.dialer.Client(webhook.Timeout)), Sandbox: p.box}
}

// missingComponents returns how to install what a tool needs and this machine lacks. An API
// without a worker does not know the machines of its workers.
func (p *platform) missingComponents() map[string]string {
	if p.worker == nil || sandbox.Has(sandbox.Python) {
		return nil
	}
	return map[string]string{knowledge.ToolCodeInterpreter: sandbox.Install}
}

// codeInterpreter returns the tool that runs code. It is offered where a sandbox works,
// which the first question that could use it finds out.
func (p *platform) codeInterpreter() tool.Tool {
	var reported sync.Once
	languages := slices.DeleteFunc([]sandbox.Language{sandbox.Python, sandbox.JavaScript}, func(l sandbox.Language) bool { return !sandbox.Has(l) })
	return tool.NewCodeInterpreter(tool.Interpreter{
		Runner: p.box, Folder: runfile.NewFolder(p.blobs), Files: runfile.New(p.blobs), Languages: languages,
		Attached: runfile.Attachments{Documents: p.store, Blobs: p.originals}.Files,
		Offered: func(r knowledge.Request) bool {
			if !r.Config.Tools.CodeInterpreter {
				return false
			}
			err := p.box.Available()
			if err != nil {
				reported.Do(func() { p.log.Warn("code_interpreter is not offered to models", "error", err) })
			}
			return err == nil
		},
	})
}
