package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// researchTest runs DeepResearch, its children and its log with their real activities.
type researchTest struct {
	*loopTest
}

func newResearchTest(t *testing.T) *researchTest {
	t.Helper()
	test := &researchTest{loopTest: newLoopTest(t)}
	acts := test.activities(func(d *answering.Dependencies) { d.Workflows, d.Library = logByID{env: test.env}, test.store })
	test.env.RegisterActivity(acts.Activities)
	test.env.RegisterWorkflow(workflows.RunLog)
	test.env.RegisterWorkflow(workflows.ResearchQuestion)
	test.publish("pump", []string{"The HX-4 pump weighs 12 kg.", "The HX-4 pump needs oil every 500 hours."})
	return test
}

// logByID reaches the RunLog in the environment.
type logByID struct {
	answering.Workflows
	env *testsuite.TestWorkflowEnvironment
}

func (w logByID) Publish(_ context.Context, id string, b stream.Batch) error {
	return w.env.SignalWorkflowByID(id, stream.SignalPublish, b)
}

func (w logByID) Events(_ context.Context, id string, from int64) (page stream.EventsPage, err error) {
	value, err := w.env.QueryWorkflowByID(id, stream.QueryEvents, stream.PollInput{FromOffset: from})
	if err != nil {
		return page, err
	}
	return page, value.Get(&page)
}

// research runs the workflow with the input that the API would start it with.
func (test *researchTest) research(question string, limits knowledge.ResearchConfig) {
	test.Helper()
	request := test.request(question, limits)
	test.env.ExecuteWorkflow(workflows.DeepResearch, workflows.NewResearchInput(record.NewAnswerInput(test.run, request)))
	test.must(test.env.GetWorkflowError())
}

// request stores the request of a research and its run.
func (test *researchTest) request(question string, limits knowledge.ResearchConfig) knowledge.Request {
	test.Helper()
	claims, err := json.Marshal(knowledge.Claims{Workspace: test.run.Workspace, Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "reader"})
	test.must(err)
	request := knowledge.Request{Kind: knowledge.KindResearch, Question: question, Projects: []string{test.run.Project}, MessageID: "m", Date: time.Now(), History: []knowledge.Message{{Role: "user", Content: "Is there an HX-4?"}}}
	request.Config = request.Config.WithDefaults()
	request.Config.Tools.DeepResearch = limits
	test.must(json.Unmarshal(claims, &request.Principal))
	_, err = test.blobs.PutJSON(test.Context(), test.run.RequestKey(), request)
	test.must(err)
	test.must(test.store.AddRun(test.Context(), store.Run{
		ID: test.run.Run, Workspace: test.run.Workspace, Project: test.run.Project, Kind: knowledge.KindResearch, Status: knowledge.RunRunning,
		WorkflowID: "research/acme/run", CreatedAt: time.Now(),
	}))
	return request
}

// stored returns the stored run and the items of its log.
func (test *researchTest) stored() (store.Run, []stream.Item) {
	test.Helper()
	run, err := test.store.RunForSystem(test.Context(), test.run.Workspace, test.run.Run)
	test.must(err)
	var log stream.StoredLog
	test.must(test.blobs.GetJSON(test.Context(), run.LogKey, &log))
	return run, log.Items
}

// outcome returns the stored run, its answer, and the text that readers were shown.
func (test *researchTest) outcome() (run store.Run, answer record.Answer, shown string, updates []record.ResearchData) {
	test.Helper()
	run, items := test.stored()
	for i, item := range items {
		if item.Offset != int64(i) {
			test.Fatalf("item %d has the offset %d", i, item.Offset)
		}
		e, err := stream.DecodeEvent(item.Data)
		test.must(err)
		switch item.Topic {
		case stream.TopicDelta:
			shown += e.Text
		case stream.TopicResearch:
			var data record.ResearchData
			test.must(json.Unmarshal(e.Data, &data))
			updates = append(updates, data)
		}
	}
	if run.Status == knowledge.RunCompleted {
		test.must(test.blobs.GetJSON(test.Context(), run.ResultKey, &answer))
	}
	return run, answer, shown, updates
}

// chosen returns the passages that readers were shown before the first word.
func (test *researchTest) chosen() (sources []record.Source) {
	test.Helper()
	_, items := test.stored()
	for _, item := range items {
		e, err := stream.DecodeEvent(item.Data)
		test.must(err)
		switch item.Topic {
		case stream.TopicChosen:
			var chosen record.Chosen
			test.must(json.Unmarshal(e.Data, &chosen))
			sources, err = chosen.Sources(test.Context(), test.blobs)
			test.must(err)
		case stream.TopicDelta:
			return sources
		}
	}
	return sources
}

func plan(questions ...string) modeltest.Reply {
	type planned struct {
		Question string   `json:"question"`
		Queries  []string `json:"queries"`
	}
	list := []planned{}
	for _, q := range questions {
		list = append(list, planned{q, []string{"pump"}})
	}
	return forced("plan_research", map[string]any{"questions": list})
}

func notes(texts ...string) modeltest.Reply {
	list := []any{}
	for _, text := range texts {
		list = append(list, map[string]any{"text": text, "sources": []int{1}})
	}
	return forced("take_notes", map[string]any{"notes": list, "missing": ""})
}

func outline(headings ...string) modeltest.Reply {
	list := []any{}
	for i, heading := range headings {
		list = append(list, map[string]any{"heading": heading, "notes": []int{i + 1}})
	}
	return forced("outline_report", map[string]any{"title": "The pump", "sections": list})
}

func forced(name string, arguments any) modeltest.Reply {
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return modeltest.Call(model.ToolCall{ID: "call_1", Name: name, Arguments: string(text)})
}

func TestDeepResearch(t *testing.T) {
	t.Parallel()

	t.Run("plans, reads, asks what is left, and writes a report whose citations resolve", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(
			plan("How heavy is the HX-4 pump?", "How often does the HX-4 pump need oil?"), notes("It is heavy. [7]"), notes("It needs oil."),
			plan("Which oil does the HX-4 pump need?"), notes(),
			outline("Weight", "Oil"),
			modeltest.Text(`It weighs 12 kg <source_1>, as all know <source_99> <citation id="made-up">[3]</citation>.`),
			modeltest.Text("It needs oil every 500 hours."))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{})
		run, answer, shown, updates := test.outcome()
		if run.Status != knowledge.RunCompleted || shown == "" || shown != answer.Answer {
			t.Fatalf("%s, %+v; shown:\n%s\nstored:\n%s", run.Status, run.Error, shown, answer.Answer)
		}
		if strings.Contains(shown, "made-up") || strings.Contains(shown, "source_") || strings.Count(shown, "<citation ") != strings.Count(shown, "[1]")+strings.Count(shown, "[2]") {
			t.Errorf("a citation does not resolve:\n%s", shown)
		}
		for _, part := range []string{"# The pump\n", "## Weight\n\nIt weighs 12 kg <citation id=", "## Oil\n\n- It ", "Nothing was found: Which oil", "Only notes: the section “Oil” (the model cited no source)"} {
			if !strings.Contains(shown, part) {
				t.Errorf("the report has no %q:\n%s", part, shown)
			}
		}
		chosen := test.chosen()
		for _, s := range answer.Sources {
			if !strings.Contains(shown, `<citation id="`+s.ChunkID+`">`) {
				t.Errorf("source %d is not cited", s.Rank)
			}
			if !slices.ContainsFunc(chosen, func(c record.Source) bool { return c.ChunkID == s.ChunkID }) {
				t.Errorf("source %d was not shown before the report", s.Rank)
			}
		}
		if answer.Usage.ModelCalls != 8 || len(answer.Sources) == 0 {
			t.Errorf("%+v, %d sources", answer.Usage, len(answer.Sources))
		}
		if first := fmt.Sprint(test.server.Requests()[0].Messages); !strings.Contains(first, "Is there an HX-4?") {
			t.Errorf("the plan knows nothing of the conversation: %s", first)
		}
		phases := map[string]int{}
		for _, u := range updates {
			phases[u.Phase+" "+u.Status]++
		}
		want := map[string]int{"plan completed": 2, "search completed": 3, "notes completed": 3, "outline completed": 1, "section completed": 1, "section failed": 1}
		for phase, n := range want {
			if phases[phase] != n {
				t.Errorf("%d events %q, want %d", phases[phase], phase, n)
			}
		}
	})

	t.Run("numbers its sources in the order in which it cites them, section by section", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(
			plan("How heavy is the HX-4 pump?"), forced("take_notes", map[string]any{"notes": []any{map[string]any{"text": "It is heavy.", "sources": []int{1, 2}}}, "missing": ""}),
			forced("outline_report", map[string]any{"title": "The pump", "sections": []any{map[string]any{"heading": "One", "notes": []int{1}}, map[string]any{"heading": "Two", "notes": []int{1}}, map[string]any{"heading": "Three", "notes": []int{1}}}}),
			modeltest.Text("First <source_2>."), modeltest.Text("Then <source_1>, again <source_2>."), modeltest.Text("It is so."))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Depth: 1})
		_, answer, shown, _ := test.outcome()
		if shown != answer.Answer || len(answer.Sources) != 2 {
			t.Fatalf("%d sources; shown:\n%s\nstored:\n%s", len(answer.Sources), shown, answer.Answer)
		}
		cited := func(number int) string {
			return fmt.Sprintf(`<citation id="%s">[%d]</citation>`, answer.Sources[number-1].ChunkID, number)
		}
		for _, part := range []string{"First " + cited(1) + ".", "Then " + cited(2) + ", again " + cited(1) + ".", "- It is heavy. " + cited(2) + " " + cited(1)} {
			if !strings.Contains(shown, part) {
				t.Errorf("the report has no %q:\n%s", part, shown)
			}
		}
		if diff := cmp.Diff([]int{1, 2}, answer.Used); diff != "" || answer.Sources[0].Rank != 1 || answer.Sources[1].Rank != 2 {
			t.Errorf("it cites %v of %+v", answer.Used, answer.Sources)
		}
	})

	t.Run("survives a sub-question that fails", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?"), modeltest.Fail(400))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{})
		run, answer, shown, _ := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer || !strings.Contains(shown, "No part of this research succeeded.") || !strings.Contains(shown, "- Failed: How heavy is the HX-4 pump? (") {
			t.Errorf("with all questions failed it is %s, %+v, with\n%s", run.Status, run.Error, shown)
		}
		if asked := test.server.Totals().Chats.Asked; asked != 2 {
			t.Errorf("%d model calls: nothing more is to be asked", asked)
		}
		test = newResearchTest(t)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?", "How often does it need oil?"), modeltest.Fail(400), notes("It is so."), plan(), outline("All"), modeltest.Text("It is so <source_1>."))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{})
		if run, _, shown, _ := test.outcome(); run.Status != knowledge.RunCompleted || !strings.Contains(shown, "- Failed: How ") {
			t.Errorf("%s with\n%s", run.Status, shown)
		}
	})
}

func TestPlansOfAResearch(t *testing.T) {
	t.Parallel()

	t.Run("waits for the attached files, plans with them and reports one that cannot be read", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.publish("letter", []string{"It weighs too much."})
		letter := knowledge.DocumentID(test.run.Workspace, test.run.Project, "letter")
		test.env.OnActivity((*answering.Attaching)(nil).AwaitAttachment, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in answering.AttachmentInput) (knowledge.AttachedDocument, error) {
				d := knowledge.AttachedDocument{DocumentID: in.Document, Status: knowledge.StatusPublished}
				if in.Document == letter {
					d.Status, d.Code = knowledge.StatusError, knowledge.CodeCorrupt
				}
				return d, nil
			})
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?"), notes("It is heavy."), plan(), outline("Weight"), modeltest.Text("It weighs 12 kg <source_1>."))
		request := test.request("How heavy is it?", knowledge.ResearchConfig{})
		request.Attachments = []string{knowledge.DocumentID(test.run.Workspace, test.run.Project, "pump"), letter}
		test.env.ExecuteWorkflow(workflows.DeepResearch, workflows.NewResearchInput(record.NewAnswerInput(test.run, request)))
		test.must(test.env.GetWorkflowError())
		run, answer, shown, _ := test.outcome()
		if run.Status != knowledge.RunCompleted || len(answer.Attachments) != 2 || answer.Attachments[1].Code != knowledge.CodeCorrupt {
			t.Fatalf("%s, %+v; attachments %+v", run.Status, run.Error, answer.Attachments)
		}
		first := fmt.Sprint(test.server.Requests()[0].Messages)
		for _, part := range []string{"<attached_file>\npump", "among the documents", "<attached_file>\nletter", "not available: it could not be read"} {
			if !strings.Contains(first, part) {
				t.Errorf("the plan is not told %q: %s", part, first)
			}
		}
		if !strings.Contains(shown, "- Not read: the attached file “letter") {
			t.Errorf("the report:\n%s", shown)
		}
	})

	t.Run("plans with what the notes leave open, and reports what stays open at its last round", func(t *testing.T) {
		t.Parallel()
		leaving := func(note, missing string) modeltest.Reply {
			return forced("take_notes", map[string]any{"notes": []any{map[string]any{"text": note, "sources": []int{1}}}, "missing": missing})
		}
		script := []modeltest.Reply{
			plan("How heavy is the HX-4 pump?"), leaving("It is heavy.", "Its weight with oil <source_1>."),
			plan("How heavy is the HX-4 pump with oil?"), leaving("It needs oil.", "The weight of the oil."),
		}
		test := newResearchTest(t)
		test.server.ScriptChat(append(script, outline("Weight"), modeltest.Text("It is so <source_1>."))...)
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Depth: 2})
		_, answer, shown, _ := test.outcome()
		if shown != answer.Answer || !strings.Contains(shown, "- Still open: How heavy is the HX-4 pump with oil? (The weight of the oil.)\n") || strings.Contains(shown, "Its weight with oil") {
			t.Errorf("the report is\n%s", shown)
		}
		if second := fmt.Sprint(test.server.Requests()[2].Messages); !strings.Contains(second, "<open>\nHow heavy is the HX-4 pump? Its weight with oil.\n") {
			t.Errorf("the second plan was asked for with\n%s", second)
		}
		test = newResearchTest(t)
		test.server.ScriptChat(append(script, plan(), outline("Weight"), modeltest.Text("It is so <source_1>."))...)
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Depth: 3})
		if _, _, shown, _ := test.outcome(); strings.Contains(shown, "Still open") {
			t.Errorf("the last plan had nothing left to ask, and the report is\n%s", shown)
		}
	})

	t.Run("follows a message, and plans once more for it", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		key := test.run.ResearchKey("message-1")
		_, err := test.blobs.PutJSON(t.Context(), key, record.ResearchMessage{Text: "Say which colour it has"})
		test.must(err)
		paused, resumed := true, false
		test.env.RegisterDelayedCallback(func() {
			test.env.SignalWorkflow(workflows.SignalResearch, record.ResearchControl{Paused: &paused})
			test.env.SignalWorkflow(workflows.SignalResearch, record.ResearchControl{Message: key})
		}, 0)
		test.env.RegisterDelayedCallback(func() {
			if n := test.server.Totals().Chats.Asked; n > 1 {
				t.Errorf("%d model calls while it is paused", n)
			}
			test.env.SignalWorkflow(workflows.SignalResearch, record.ResearchControl{Paused: &resumed})
		}, time.Hour)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?"), notes("It is heavy."), plan(), outline("All"), modeltest.Text("It is so <source_1>."))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Depth: 1})
		run, _, shown, updates := test.outcome()
		if run.Status != knowledge.RunCompleted || !strings.Contains(shown, "It is so") {
			t.Errorf("%s with\n%s\n%+v", run.Status, shown, updates)
		}
		steered := 0
		for _, r := range test.server.Requests() {
			if strings.Contains(fmt.Sprint(r.Messages), "which colour") {
				steered++
			}
		}
		if steered < 3 {
			t.Errorf("%d model calls were told of the message", steered)
		}
	})
}

func TestEndOfAResearch(t *testing.T) {
	t.Parallel()

	t.Run("ends at its budget of calls in a report that says what it leaves out", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?", "How often does it need oil?", "Who makes it?"), notes("It is heavy."), notes("It needs oil."), outline("Weight", "Oil"))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Breadth: 3, Budget: knowledge.ResearchBudget{Calls: 5}})
		run, answer, shown, _ := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer || answer.Usage.ModelCalls > 5 {
			t.Fatalf("%s with %+v; shown:\n%s", run.Status, answer.Usage, shown)
		}
		for _, part := range []string{"budget of model calls", "Not researched: Who makes it?"} {
			if !strings.Contains(shown, part) {
				t.Errorf("the report has no %q:\n%s", part, shown)
			}
		}
	})

	t.Run("says so in the language of the question", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?", "How often does it need oil?", "Wer baut sie?"), notes("It is heavy."), notes("It needs oil."), outline("Gewicht", "Öl"))
		test.research("Was ist über die Pumpe zu wissen?", knowledge.ResearchConfig{Breadth: 3, Budget: knowledge.ResearchBudget{Calls: 5}})
		_, _, shown, _ := test.outcome()
		for _, part := range []string{"## Was in diesem Bericht fehlt\n\n- Die Recherche endete vorzeitig: Die erlaubten Modellaufrufe waren verbraucht.", "- Nicht recherchiert: Wer baut sie?"} {
			if !strings.Contains(shown, part) {
				t.Errorf("the report has no %q:\n%s", part, shown)
			}
		}
	})

	t.Run("ends at its budget of tokens in a report that says what it leaves out", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		questions := []string{}
		for i := range 6 {
			questions = append(questions, fmt.Sprintf("What is part %d of the HX-4 pump?", i+1))
		}
		test.server.ScriptChat(plan(questions...), notes("It is heavy."), notes("It is heavy."), notes("It is heavy."), notes("It is heavy."), notes("It is heavy."))
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Breadth: 6, Budget: knowledge.ResearchBudget{Tokens: 1000}})
		run, answer, shown, _ := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer || answer.Usage.ModelCalls < 2 || answer.Usage.ModelCalls > 6 {
			t.Fatalf("%s with %+v; shown:\n%s", run.Status, answer.Usage, shown)
		}
		for _, part := range []string{"budget of tokens", "- It is heavy. <citation id=", "Not researched: What is part 6", "Only notes, because the budget was used up"} {
			if !strings.Contains(shown, part) {
				t.Errorf("after %+v the report has no %q:\n%s", answer.Usage, part, shown)
			}
		}
	})

	t.Run("ends when its time is over in a report that says what it leaves out", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?"), notes("It is heavy."), plan("Who makes it?"), modeltest.Hang())
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Timeout: 4})
		run, answer, shown, updates := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer {
			t.Fatalf("%s, %+v; shown:\n%s", run.Status, run.Error, shown)
		}
		skipped := strings.Contains(shown, "- Not researched: ") || strings.Contains(shown, "before anything was searched") // which, depends on the machine
		if !skipped || !strings.Contains(shown, "its time was over") {
			t.Errorf("the report is\n%s\n%+v", shown, updates)
		}
	})

	t.Run("ends when its time is over in the first plan", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(modeltest.Hang())
		test.research("What is to know of the pump?", knowledge.ResearchConfig{Timeout: 1})
		if run, _, shown, _ := test.outcome(); run.Status != knowledge.RunCompleted || !strings.Contains(shown, "before anything was searched") || !strings.Contains(shown, "its time was over") {
			t.Errorf("%s, %+v; shown:\n%s", run.Status, run.Error, shown)
		}
	})

	t.Run("ends when it is canceled", func(t *testing.T) {
		t.Parallel()
		test := newResearchTest(t)
		test.server.ScriptChat(plan("How heavy is the HX-4 pump?"), modeltest.Hang())
		go func() {
			_ = test.server.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Chats.Asked == 2 }) // the test fails below
			test.env.CancelWorkflow()
		}()
		test.research("What is to know of the pump?", knowledge.ResearchConfig{})
		if run, _, _, _ := test.outcome(); run.Status != knowledge.RunCanceled {
			t.Errorf("it is %s", run.Status)
		}
	})
}

// collectedLog is the log of a run whose workflow ends and begins again in the
// environment.
type collectedLog struct {
	answering.Workflows
	mu  sync.Mutex
	log stream.Log
}

func (w *collectedLog) Publish(_ context.Context, _ string, b stream.Batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.Publish(b)
	return nil
}

func (w *collectedLog) Events(_ context.Context, _ string, from int64) (stream.EventsPage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return stream.EventsPage{Page: w.log.Page(from, nil)}, nil
}

// TestLongResearch suggests a continue-as-new at every turn: each model call is made
// once, and the log is whole.
func TestLongResearch(t *testing.T) {
	t.Parallel()
	test, log := newResearchTest(t), &collectedLog{}
	test.server.ScriptChat(
		plan("How heavy is the HX-4 pump?"), notes("It is heavy."), plan("How often does it need oil?"), notes("It needs oil."),
		outline("Weight", "Oil"), modeltest.Text("It weighs 12 kg <source_1>."), modeltest.Text("It needs oil <source_1> <source_2>."))
	request := test.request("What is to know of the pump?", knowledge.ResearchConfig{})
	in := workflows.NewResearchInput(record.NewAnswerInput(test.run, request))
	runs := 1
	for ; ; runs++ {
		env := newEnvironment()
		env.RegisterActivity(test.activities(func(d *answering.Dependencies) { d.Workflows = log }).Activities)
		env.RegisterWorkflow(workflows.ResearchQuestion)
		env.RegisterWorkflow(workflows.RunLog)
		env.OnWorkflow(workflows.RunLog, mock.Anything, mock.Anything).Maybe().Return(nil)
		env.OnSignalExternalWorkflow(mock.Anything, test.run.LogWorkflowID(), mock.Anything, stream.SignalPublish, mock.Anything).Return(
			func(_, id, _, _ string, arg any) error { return log.Publish(t.Context(), id, arg.(stream.Batch)) })
		env.SetContinueAsNewSuggested(true)
		env.ExecuteWorkflow(workflows.DeepResearch, in)
		if err := env.GetWorkflowError(); !isContinueAsNew(err) {
			test.must(err)
			break
		}
		in = continued[workflows.ResearchInput](t, env.GetWorkflowError())
	}
	run, answer, shown, _ := test.outcome()
	if run.Status != knowledge.RunCompleted || shown != answer.Answer || !strings.Contains(shown, "## Oil\n\nIt needs oil") {
		t.Errorf("%s, %+v; shown:\n%s\nstored:\n%s", run.Status, run.Error, shown, answer.Answer)
	}
	if calls := test.server.Totals().Chats.Asked; calls != 7 || runs < 4 || answer.Usage.ModelCalls != 7 {
		t.Errorf("%d model calls in %d runs of the workflow, %d counted", calls, runs, answer.Usage.ModelCalls)
	}
}
