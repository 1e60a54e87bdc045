package e2e_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestPipelineHistories has a document and a question go through steps, for their histories.
func TestPipelineHistories(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	st := newStepper(t)
	s.pipeline(t,
		map[string]any{"at": "extracted", "webhook": st.at("/extracted", says(`{"tags":["seen"]}`))},
		map[string]any{"at": "before_prompt", "webhook": st.at("/prompt", says(`{"instructions":"Mention the refracting prisms."}`))},
		map[string]any{"at": "after_answer", "webhook": st.at("/answer", says(`{"answer":"It is not so. [1]"}`))})
	document := s.publish(t, "lamp", "The northern pier has a lighthouse whose lens is a catadioptric assembly.")
	m.ScriptChat(modeltest.Text("It is so. <source_1>"))
	query := s.query(t, "Kindly elucidate the pharology of that pier")
	if got := read(t, s.follow(t, query.run, 0)); got.resets != 1 || got.text != got.answer.Text {
		t.Errorf("the answer is %q, the stream ends with %q after %d resets", got.answer.Text, got.text, got.resets)
	}
	s.wantHistory(t, "ingest_document_steps", "ingest/default/"+document.ID, "whsec_", st.url)
	s.wantHistory(t, "answer_query_steps", "query/default/"+query.run, "whsec_", st.url)
}
