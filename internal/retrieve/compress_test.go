package retrieve_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

func TestCompress(t *testing.T) {
	t.Parallel()
	c := chunks{}
	found := book(c, "a", []string{"Zérö is 4.1 bar. One is not. Two is!\nThree may be.", "第一句。第二句！ And a third.", "Nothing here."}, 0, 1, 2)
	config := knowledge.RetrievalConfig{Strategy: "dense", Compress: true}
	compress := func(t *testing.T, answer string, m retrieve.Memory) (retrieve.Result, []citation.Context, *scriptedChat) {
		t.Helper()
		chat := &scriptedChat{answers: map[string]string{"keep_sentences": answer}}
		r := ask(t, &scripted{dense: found}, c, retrieve.Models{Chat: chat, Passages: pages{chunks: c}}, retrieve.Request{Config: config, Explain: true, Memory: m})
		passages, err := retrieve.Passages(t.Context(), pages{chunks: c}, asker, r.Contexts)
		if err != nil {
			t.Fatal(err)
		}
		return r, passages, chat
	}
	texts := func(passages []citation.Context) []string {
		var list []string
		for _, p := range passages {
			list = append(list, p.Text)
		}
		return list
	}
	whole := []string{"Zérö is 4.1 bar. One is not. Two is!\nThree may be.", "第一句。第二句！ And a third.", "Nothing here."}

	t.Run("the sentences that matter are kept under their chunk, and a passage without one is dropped", func(t *testing.T) {
		t.Parallel()
		r, passages, chat := compress(t, `{"passages":[[1,3,4],[2],[]]}`, nil)
		if diff := cmp.Diff([]string{"Zérö is 4.1 bar. […] Two is!\nThree may be.", "第二句！"}, texts(passages)); diff != "" {
			t.Error(diff)
		}
		if passages[1].ChunkID != knowledge.ChunkID("a", 1, 1) || passages[1].Rank != 2 || r.Trace.Dropped[0].Reason != retrieve.DropCompress {
			t.Errorf("%+v", passages[1])
		}
		if user := chat.calls[0].User; !strings.Contains(user, "1: Zérö is 4.1 bar.\n2: One is not.\n3: Two is!\n4: Three may be.\n</passage>") {
			t.Error(user)
		}
	})
	for name, answer := range map[string]string{"nothing that matters": `{"passages":[[],[],[]]}`, "a wrong number of passages": `{"passages":[[1]]}`, "no answer": `{}`} {
		t.Run(name+" leaves the passages whole", func(t *testing.T) {
			t.Parallel()
			if _, passages, _ := compress(t, answer, nil); cmp.Diff(whole, texts(passages)) != "" {
				t.Errorf("%q", texts(passages))
			}
		})
	}
	t.Run("sentences that there are not are ignored", func(t *testing.T) {
		t.Parallel()
		if _, passages, _ := compress(t, `{"passages":[[0,99,2],[-1],[1]]}`, nil); cmp.Diff([]string{"One is not.", "Nothing here."}, texts(passages)) != "" {
			t.Errorf("%q", texts(passages))
		}
	})
	t.Run("a passage that has changed since is whole", func(t *testing.T) {
		t.Parallel()
		r, _, _ := compress(t, `{"passages":[[1],[1],[1]]}`, nil)
		r.Contexts[0].Text += " More."
		passages, err := retrieve.Passages(t.Context(), pages{chunks: c}, asker, r.Contexts[:1])
		if err != nil || passages[0].Text != whole[0]+" More." {
			t.Errorf("%+v, %v", passages, err)
		}
	})
	t.Run("the sentences of an earlier attempt are used again", func(t *testing.T) {
		t.Parallel()
		kept := &memory{}
		compress(t, `{"passages":[[1],[1],[1]]}`, kept)
		_, passages, chat := compress(t, `{"passages":[[2],[2],[]]}`, kept)
		if len(chat.calls) != 0 || passages[0].Text != "Zérö is 4.1 bar." {
			t.Errorf("%d calls, %q", len(chat.calls), passages[0].Text)
		}
	})
}

// TestCompressKeepsRowsWhole has a model choose a row of a table and one sentence.
func TestCompressKeepsRowsWhole(t *testing.T) {
	t.Parallel()
	c := chunks{}
	const table = "Sales in EUR.\n| Region | Note |\n| --- | --- |\n| North | Good. But late. |\n| South | No. 5 Inc. is new. |\n| East | None. |\nThe end."
	found := book(c, "a", []string{table}, 0)
	chat := &scriptedChat{answers: map[string]string{"keep_sentences": `{"passages":[[5,7]]}`}}
	r := ask(t, &scripted{dense: found}, c, retrieve.Models{Chat: chat, Passages: pages{chunks: c}},
		retrieve.Request{Config: knowledge.RetrievalConfig{Strategy: "dense", Compress: true}})
	passages, err := retrieve.Passages(t.Context(), pages{chunks: c}, asker, r.Contexts)
	if err != nil {
		t.Fatal(err)
	}
	want := "| Region | Note |\n| --- | --- |\n| […] |\n| South | No. 5 Inc. is new. |\n[…]\nThe end."
	if got := passages[0].Text; got != want {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
	}
	if user := chat.calls[0].User; !strings.Contains(user, "4: | North | Good. But late. |\n5: | South | No. 5 Inc. is new. |\n") {
		t.Error(user)
	}
}
