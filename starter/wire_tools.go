package main

import "github.com/cairn-rag/cairn/internal/tool"

// tools returns the tools of the instance beside documents_rag. A project gets one that
// is in toolNames only if it sets it.
func (p *platform) tools() tool.Set { return nil }

// toolNames returns the tools that a project may set. The API may run without a worker,
// so they depend on the configuration alone.
func (p *platform) toolNames() []string { return nil }
