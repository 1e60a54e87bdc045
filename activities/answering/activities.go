package answering

import "github.com/cairn-rag/cairn/activities/step"

// Activities are the activities of AnswerQuery, RunTool, DeepResearch, EvaluateProject,
// GenerateTestSet and their children.
// The zero value has their names for workflows.
type Activities struct {
	*Attaching
	*Searching
	*CallingModels
	*CallingTools
	*AskingAgents
	*SearchingWeb
	*AskingWebhooks
	*Stepping
	*Finishing
	*Planning
	*TakingNotes
	*Reporting
	*Suggesting
	*Conversing
	*Evaluating
	*Generating
}

// New returns the activities of questions.
func New(d Dependencies) *Activities {
	logged := stepLog{d.Log}
	chats := &chats{Chat: d.Chat, Failover: d.Failover, Recognisers: d.Recognisers, Metrics: d.Metrics, Log: d.Log}
	attachments := &attachments{d.Blobs, d.Library}
	passages := &passages{Blobs: d.Blobs, Passages: d.Passages, Library: d.Library}
	searches := &searches{Blobs: d.Blobs, Retriever: d.Retriever, Chat: d.Chat, Log: d.Log}
	web := &web{Blobs: d.Blobs, Web: d.Web, Pages: d.Pages, Retriever: d.Retriever, Log: d.Log}
	library := &library{Blobs: d.Blobs, Library: d.Library, Tables: d.Tables, TempDir: d.TempDir, Log: d.Log, chats: chats, searches: searches}
	tools := &tools{Sources: d.Sources, Tools: d.Tools, web: web, library: library, searches: searches}
	calling := &CallingTools{stepLog: logged, Blobs: d.Blobs, Workflows: d.Workflows, tools: tools}
	research := &research{Blobs: d.Blobs, Log: d.Log, Workflows: d.Workflows, chats: chats, passages: passages}

	return &Activities{
		Attaching: &Attaching{stepLog: logged, Blobs: d.Blobs, Library: d.Library},
		Searching: &Searching{stepLog: logged, Blobs: d.Blobs, searches: searches},
		CallingModels: &CallingModels{
			stepLog: logged, Blobs: d.Blobs, Hub: d.Hub, Workflows: d.Workflows, Metrics: d.Metrics,
			Days: d.Days, chats: chats, passages: passages, tools: tools, attachments: attachments, library: library,
		},
		CallingTools: calling,
		AskingAgents: &AskingAgents{stepLog: logged, Agents: d.Agents, Blobs: d.Blobs, Runs: d.Runs, calling: calling},
		SearchingWeb: &SearchingWeb{stepLog: logged, Blobs: d.Blobs, web: web},
		AskingWebhooks: &AskingWebhooks{
			stepLog: logged, Hub: d.Hub, Workflows: d.Workflows, Blobs: d.Blobs, Webhooks: d.Webhooks, Library: d.Library, library: library,
		},
		Stepping: &Stepping{
			stepLog: logged, Blobs: d.Blobs, custom: step.Pipeline{Blobs: d.Blobs, Runner: d.Steps, Log: d.Log}, passages: passages, chats: chats,
		},
		Finishing: &Finishing{
			stepLog: logged, Metrics: d.Metrics, Blobs: d.Blobs, Hub: d.Hub, Runs: d.Runs, Workflows: d.Workflows, passages: passages,
		},
		Planning:    &Planning{stepLog: logged, Blobs: d.Blobs, attachments: attachments, research: research},
		TakingNotes: &TakingNotes{stepLog: logged, Blobs: d.Blobs, searches: searches, passages: passages, web: web, research: research},
		Reporting: &Reporting{
			stepLog: logged, Blobs: d.Blobs, Workflows: d.Workflows, attachments: attachments, passages: passages, research: research,
		},
		Suggesting: &Suggesting{stepLog: logged, Blobs: d.Blobs, chats: chats},
		Conversing: &Conversing{stepLog: logged, Blobs: d.Blobs, Conversations: d.Conversations, chats: chats},
		Evaluating: &Evaluating{
			stepLog: logged, Evaluations: d.Evaluations, Blobs: d.Blobs, Runs: d.Runs, Passages: d.Passages, Judges: d.Judges, Hub: d.Hub, Metrics: d.Metrics, chats: chats,
		},
		Generating: &Generating{
			stepLog: logged, TestSets: d.TestSets, Blobs: d.Blobs, Runs: d.Runs, Library: d.Library, Passages: d.Passages, Retriever: d.Retriever,
			Hub: d.Hub, Metrics: d.Metrics, chats: chats,
		},
	}
}
