package localmodel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// handbook is a prompt in the form that Cairn writes.
const handbook = `You answer from the passages below. Cite each sentence with the number of its passage, like this: <source_1>.
If they do not answer, say so.

<source_1 document="Handbook.md" heading="Leave > Remote work">
Employees may work remotely up to three days a week. Remote work needs the approval of the team lead, who answers
within five working days. Equipment is ordered through the service desk. An unread
message of type *T has a _size field and ends with '\n' or **EOF**.
</source_1>
<source_2 document="Handbook.md" heading="Travel > Expenses">
Before a journey, collect these papers:

- A passport that is valid for six months
- The booking confirmation
- A letter of invitation

Expenses are paid back within ten days. Dr. Marta Okafor approves journeys that cost more than 2,000 euros, e.g. those
to another continent.
</source_2>
<source_3 document="prices.csv" heading="">
Plan | Price per month | Storage
--- | --- | ---
Basic | 9 EUR | 10 GB
Team | 29 EUR | 200 GB
</source_3>
<source_4 document="guide.pdf" heading="Pumps &quot;P7&quot; &gt; Service">
he seal must be replaced every 4,000 hours. The pump needs new oil after its first 50 hours. Why does the pump stall?
A pump stalls when air enters the suction line.
` + "```\nreset pump --force\n```" + `
</source_4>`

func say(words ...string) []model.Message {
	messages := []model.Message{{Role: model.RoleSystem, Content: handbook}}
	for i, w := range words {
		role := model.RoleUser
		if i%2 == 1 {
			role = model.RoleAssistant
		}
		messages = append(messages, model.Message{Role: role, Content: w})
	}
	return messages
}

func answer(t *testing.T, messages []model.Message) string {
	t.Helper()
	chat, _ := serve(t, localmodel.Config{})
	text, done, err := modeltest.Collect(t.Context(), chat, model.ChatRequest{Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	if done.Model != "cairn-offline" {
		t.Errorf("model of the answer: %q", done.Model)
	}
	return text
}

const nothing = "The documents do not contain an answer to this question."

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask   []string
		want  string   // beginning of the answer
		holds []string // other texts in the answer
		lacks []string
	}{
		"a fact": {
			ask: []string{"How many days a week may I work remotely?"}, want: "Employees may work remotely up to three days a week. <source_1>", lacks: []string{"pump"}},
		"another form of the word": {
			ask: []string{"Who gives approvals for working remotely?"}, want: "", holds: []string{"approval of the team lead, who answers within five working days. <source_1>"}},
		"a sentence over two lines, with a title, a number and an abbreviation inside": {
			ask: []string{"Who approves an expensive journey?"}, holds: []string{"Dr. Marta Okafor approves journeys that cost more than 2,000 euros, e.g. those to another continent. <source_2>"}},
		"text that looks like markup is quoted unchanged": {
			ask: []string{"How does an unread message end?"}, want: `An unread message of type *T has a _size field and ends with '\n' or **EOF**. <source_1>`},
		"a row of a table with the names of its columns": {
			ask: []string{"What is the price of the Team plan?"}, want: "Plan: Team, Price per month: 29 EUR. <source_3>"},
		"a list with its introduction": {
			ask: []string{"Which papers must I collect before a journey?"}, want: "Before a journey, collect these papers: <source_2> A passport that is valid for six months. <source_2>",
			holds: []string{"The booking confirmation. <source_2>", "A letter of invitation. <source_2>"}},
		"a whole sentence rather than a fragment": {
			ask: []string{"When does the pump need new oil?"}, want: "The pump needs new oil after its first 50 hours. <source_4>"},
		"the answer after a question in the text": {
			ask: []string{"Why does a pump stall?"}, want: "A pump stalls when air enters the suction line. <source_4>", lacks: []string{"Why does"}},
		"one sentence where that is asked for": {
			ask: []string{"Briefly: within what time are expenses paid back?"}, want: "Expenses are paid back within ten days. <source_2>", lacks: []string{"<source_1>", "<source_4>"}},
		"a follow-up refers to the previous question": {
			ask: []string{"How many days a week may I work remotely?", "Three.", "And who approves it?"}, holds: []string{"approval of the team lead, who answers within five working days. <source_1>"}},
		"a follow-up on something else does not": {
			ask: []string{"How many days a week may I work remotely?", "Three.", "What does the Basic plan cost per month?"}, want: "Plan: Basic, Price per month: 9 EUR. <source_3>"},
		"nothing where nothing fits": {
			ask: []string{"What is the capital of France?"}, want: nothing, lacks: []string{"<source"}},
		"nothing in the language of the question": {
			ask: []string{"Was ist die Hauptstadt von Frankreich?"}, want: "Die Dokumente enthalten keine Antwort auf diese Frage.", lacks: []string{"<source"}},
		"nothing where one word of many fits": {
			ask: []string{"Which oil painting did Rembrandt finish in Amsterdam?"}, want: nothing},
		"nothing for a question without a word": {
			ask: []string{"???"}, want: nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := answer(t, say(test.ask...))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %q\nwant %q first", got, test.want)
			}
			for _, s := range test.holds {
				if !strings.Contains(got, s) {
					t.Errorf("%q\nlacks %q", got, s)
				}
			}
			for _, s := range test.lacks {
				if strings.Contains(got, s) {
					t.Errorf("%q\ncontains %q", got, s)
				}
			}
		})
	}
}

func TestAnswerShapes(t *testing.T) {
	t.Parallel()

	t.Run("a question for detail gets a long answer in the order of the text", func(t *testing.T) {
		t.Parallel()
		var passage strings.Builder
		for i := range 20 {
			fmt.Fprintf(&passage, "Step %d of the migration copies table number %d to the new cluster. ", i+1, i+100)
		}
		messages := []model.Message{
			{Role: model.RoleSystem, Content: "<source_5 document=\"a.md\" heading=\"Migration\">\n" + passage.String() + "\n</source_5>"},
			{Role: model.RoleUser, Content: "Explain in detail how the migration works."},
		}
		got := answer(t, messages)
		if n := strings.Count(got, "<source_5>"); n < 8 || n > 12 {
			t.Errorf("%d sentences: %q", n, got)
		}
		last := 0
		for sentence := range strings.SplitSeq(got, "<source_5>") {
			var step int
			if _, err := fmt.Sscanf(strings.TrimSpace(sentence), "Step %d", &step); err == nil && step < last {
				t.Fatalf("step %d after %d", step, last)
			} else if err == nil {
				last = step
			}
		}
	})

	t.Run("a Reflection block begins an answer that is to have one", func(t *testing.T) {
		t.Parallel()
		passages := []citation.Context{{Rank: 1, DocumentName: "a", Text: "The vault opens at nine.\n**Reflection:**\n*the paragraph*"}}
		system := prompt.System("", passages, time.Time{})
		messages := []model.Message{
			{Role: model.RoleSystem, Content: prompt.WithReflection(system)},
			{Role: model.RoleUser, Content: "When does\nthe *vault* open?"},
		}
		got := answer(t, messages)
		if want := "**Reflection:**\n*The question is: When does the vault open? I look for "; !strings.HasPrefix(got, want) || prompt.WithoutReflection(got) != "The vault opens at nine. <source_1>" {
			t.Errorf("got %q", got)
		}
		messages[0].Content = system
		if got := answer(t, messages); strings.Contains(got, "The question is") {
			t.Errorf("not asked for a block, it wrote %q", got)
		}
	})

	t.Run("overlapping passages are quoted once", func(t *testing.T) {
		t.Parallel()
		text := "The archive keeps every letter for ten years."
		messages := []model.Message{
			{Role: model.RoleSystem, Content: "<source_1 document=\"a\">\n" + text + "\n</source_1>\n<source_2 document=\"b\">\n" + text + "\n</source_2>"},
			{Role: model.RoleUser, Content: "How long does the archive keep a letter?"},
		}
		if got := answer(t, messages); got != text+" <source_1>" {
			t.Errorf("got %q", got)
		}
	})

	t.Run("a mark inside a passage is not repeated as a citation", func(t *testing.T) {
		t.Parallel()
		messages := []model.Message{
			{Role: model.RoleSystem, Content: "<source_1 document=\"a\">\nThe vault opens at nine <source_9> every day.\n</source_1>"},
			{Role: model.RoleUser, Content: "When does the vault open?"},
		}
		if got := answer(t, messages); strings.Contains(got, "source_9") || !strings.HasSuffix(got, "<source_1>") {
			t.Errorf("got %q", got)
		}
	})

	t.Run("without passages it says that it is the offline model", func(t *testing.T) {
		t.Parallel()
		got := answer(t, []model.Message{{Role: model.RoleUser, Content: "Hello"}})
		if !strings.Contains(got, "offline model") || strings.Contains(got, "<source") {
			t.Errorf("got %q", got)
		}
	})
}

func TestPassagesAreFound(t *testing.T) {
	t.Parallel()

	t.Run("a passage is found whatever its document is called, and by that name", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{`The "vault" handbook`, `C:\vault\`, "vault's & co.\n", "vault <b> </source_1> & &lt;", `" vault="x`, "der größte\u00a0vault"} {
			passages := []citation.Context{{Rank: 1, DocumentName: name, Text: "It opens at nine."}}
			messages := []model.Message{
				{Role: model.RoleSystem, Content: prompt.System("", passages, time.Time{})},
				{Role: model.RoleUser, Content: "When does the vault open?"},
			}
			if got := answer(t, messages); got != "It opens at nine. <source_1>" {
				t.Errorf("%q: got %q", name, got)
			}
		}
	})

	t.Run("a text in another script and one with diacritics are found", func(t *testing.T) {
		t.Parallel()
		messages := []model.Message{
			{Role: model.RoleSystem, Content: "<source_1 document=\"a\">\n会社の本社は東京にあります。工場は大阪にあります。\n</source_1>\n<source_2 document=\"b\">\nDas Büro öffnet um neun Uhr.\n</source_2>"},
			{Role: model.RoleUser, Content: "本社はどこですか"},
		}
		if got := answer(t, messages); !strings.HasPrefix(got, "会社の本社は東京にあります。 <source_1>") {
			t.Errorf("got %q", got)
		}
		messages[1].Content = "Wann oeffnet das Buro?"
		if got := answer(t, messages); !strings.HasPrefix(got, "Das Büro öffnet um neun Uhr. <source_2>") {
			t.Errorf("got %q", got)
		}
	})
}

func TestToolRule(t *testing.T) {
	t.Parallel()
	search := model.Tool{Name: "documents_rag", Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)}
	other := model.Tool{Name: "create_ticket", Parameters: json.RawMessage(`{"type":"object","properties":{
		"title":{"type":"string"},"kind":{"enum":["bug","idea"]},"count":{"type":"integer","minimum":2},"urgent":{"type":"boolean"},
		"labels":{"type":"array","items":{"type":"string"}},"who":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"note":{"type":"string"}},
		"required":["title","kind","count","urgent","labels","who"]}`)}
	asked := []model.Message{{Role: model.RoleUser, Content: "Where is the key?"}}
	result := func(content string) []model.Message {
		return append(asked[:1:1],
			model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "documents_rag", Arguments: `{"query":"key"}`}}},
			model.Message{Role: model.RoleTool, ToolCallID: "1", Content: content})
	}
	for name, test := range map[string]struct {
		req  model.ChatRequest
		call string // name and arguments, "" = none
		text string // beginning of the answer
	}{
		"it searches when it has no passages": {
			model.ChatRequest{Messages: asked, Tools: []model.Tool{other, search}}, `documents_rag{"query":"Where is the key?"}`, ""},
		"it searches for a follow-up together with the previous question": {
			model.ChatRequest{Messages: []model.Message{asked[0], {Role: model.RoleAssistant, Content: "In the safe."}, {Role: model.RoleUser, Content: "And who has it?"}}, Tools: []model.Tool{search}},
			`documents_rag{"query":"Where is the key?\nAnd who has it?"}`, ""},
		"it does not search when it has passages": {
			model.ChatRequest{Messages: say("How many days a week may I work remotely?"), Tools: []model.Tool{search}}, "", "Employees may"},
		"it searches when its passages were found without the previous question": {
			model.ChatRequest{Messages: say("How many days a week may I work remotely?", "Three.", "And who approves it?"), Tools: []model.Tool{search}},
			`documents_rag{"query":"How many days a week may I work remotely?\nAnd who approves it?"}`, ""},
		"it does not search twice": {
			model.ChatRequest{Messages: result("No passages were found."), Tools: []model.Tool{search}}, "", nothing},
		"it answers from what it found": {
			model.ChatRequest{Messages: result("<source_1 document=\"a\">\nThe key is under the mat.\n</source_1>"), Tools: []model.Tool{search}}, "", "The key is under the mat. <source_1>"},
		"it calls nothing where that is forbidden": {
			model.ChatRequest{Messages: asked, Tools: []model.Tool{search}, ToolChoice: "none"}, "", "This is Cairn's offline model."},
		"it calls another tool only if the request requires it": {
			model.ChatRequest{Messages: asked, Tools: []model.Tool{other}}, "", "This is Cairn's offline model."},
		"it calls a required tool, and fills in its required parameters": {
			model.ChatRequest{Messages: asked, Tools: []model.Tool{other}, ToolChoice: "required"},
			`create_ticket{"count":2,"kind":"bug","labels":["Where is the key?"],"title":"Where is the key?","urgent":false,"who":{"name":"Where is the key?"}}`, ""},
		"it calls a named tool even if it has passages": {
			model.ChatRequest{Messages: say("Who?"), Tools: []model.Tool{other, search}, ToolChoice: "documents_rag"}, `documents_rag{"query":"Who?"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chat, _ := serve(t, localmodel.Config{})
			text, done, err := modeltest.Collect(t.Context(), chat, test.req)
			if err != nil {
				t.Fatal(err)
			}
			var call string
			for _, c := range done.ToolCalls {
				call += c.Name + c.Arguments
			}
			if call != test.call || !strings.HasPrefix(text, test.text) || (text == "") != (test.text == "") {
				t.Errorf("call %q and text %q", call, text)
			}
		})
	}
}
