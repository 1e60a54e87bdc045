package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// scripts are texts whose sentences, each repeated, are known.
var scripts = map[string][]string{
	"Chinese": {
		"图书馆每天早上九点开门。", "借书证在哪里办理？", "请不要在阅览室里吃东西！", "管理员说：「请小声说话。」", "“周末也开放吗？”", "星期一闭馆。",
	},
	"Japanese": {
		"図書館は毎朝九時に開きます。", "貸出カードはどこで作れますか？", "閲覧室で食べないでください！", "司書は「静かにしてください。」", "「週末も開いていますか？」", "月曜日は休館です。",
	},
	"Arabic": {
		"تفتح المكتبة أبوابها كل صباح. ", "أين يمكن الحصول على بطاقة؟ ", "لا تأكلوا في قاعة القراءة! ", "قال الأمين: تكلموا بهدوء؛ فالناس يقرؤون. ", "المكتبة مغلقة يوم الاثنين۔ ",
	},
	"Hebrew": {
		"הספרייה נפתחת בכל בוקר. ", "היכן אפשר לקבל כרטיס קורא? ", "אין לאכול באולם הקריאה! ", "פסוק ראשון כתוב כאן׃ ", "הספרייה סגורה ביום שני. ",
	},
	"Hindi":   {"पुस्तकालय सुबह खुलता है। ", "कार्ड कहाँ मिलता है? ", "यहाँ मत खाइए! "},
	"Amharic": {"ቤተ መጻሕፍቱ ጠዋት ይከፈታል። ", "ካርዱ የት ይገኛል፧ ", "እዚህ አይበላም! "},
}

// TestSentencesOfOtherScripts cuts texts without a space or line end that could help,
// and joins each chunk from whole sentences.
func TestSentencesOfOtherScripts(t *testing.T) {
	t.Parallel()
	for script, sentences := range scripts {
		for _, strategy := range []string{"structure", "sliding", "semantic", "hierarchical", "dynamic"} {
			t.Run(script+" "+strategy, func(t *testing.T) {
				t.Parallel()
				text := strings.TrimSpace(strings.Repeat(strings.Join(sentences, ""), 20))
				chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, knowledge.Splitter{Strategy: strategy, ChunkSize: 150, ChunkOverlap: new(40)})
				if len(chunks) < 3 {
					t.Fatalf("%d chunks", len(chunks))
				}
				for _, c := range chunks {
					rest := c.Text
					for rest != "" {
						before := rest
						for _, s := range sentences {
							rest = strings.TrimSpace(strings.TrimPrefix(rest, strings.TrimSpace(s)))
						}
						if rest == before {
							t.Fatalf("chunk %d is not made of sentences from %q on", c.Ordinal, rest)
						}
					}
				}
			})
		}
	}
}

func TestTextWithoutSentencesOrSpaces(t *testing.T) {
	t.Parallel()
	t.Run("a Chinese text is cut behind the marks of its clauses", func(t *testing.T) {
		t.Parallel()
		text := strings.Repeat("图书馆每天开放，读者可以借书、还书；", 30)
		for _, strategy := range []string{"structure", "fixed", "sliding"} {
			for _, c := range split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, knowledge.Splitter{Strategy: strategy, ChunkSize: 100, ChunkOverlap: new(30)}) {
				if last, _ := utf8.DecodeLastRuneInString(c.Text); !strings.ContainsRune("，、；", last) || !strings.HasPrefix(c.Text, "图书馆") && !strings.HasPrefix(c.Text, "读者") && !strings.HasPrefix(c.Text, "还书") {
					t.Errorf("%s: chunk %q", strategy, c.Text)
				}
			}
		}
	})

	// check, which split calls, finds a cut inside a cluster.
	for name, cluster := range map[string]string{
		"letters with combining marks": "e\u0301\u0323",
		"families":                     "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
		"skin tones":                   "\U0001f44d\U0001f3fd",
		"flags":                        "\U0001f1ee\U0001f1f8",
		"Korean in parts":              "\u1112\u1161\u11ab",
		"Hindi":                        "क्षि",
		"vowelled Arabic":              "مَّ",
		"pointed Hebrew":               "שָּׁ",
		"Thai":                         "กี่",
	} {
		t.Run("no cut inside "+name, func(t *testing.T) {
			t.Parallel()
			for _, strategy := range strategies {
				for lead := range 5 {
					text := strings.Repeat("x", lead) + strings.Repeat(cluster, 400)
					split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, knowledge.Splitter{Strategy: strategy, ChunkSize: 101, ChunkOverlap: new(33)})
				}
			}
		})
	}
}

func TestTheNextQuotationIsNotPartOfASentence(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("他说完了。「我知道了。」", 10)
	chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, knowledge.Splitter{ChunkSize: 100, ChunkOverlap: new(0)})
	var ends []string
	for _, c := range chunks {
		runes := []rune(c.Text)
		ends = append(ends, fmt.Sprintf("%c…%c", runes[0], runes[len(runes)-1]))
	}
	if diff := cmp.Diff([]string{"他…」", "他…」"}, ends); diff != "" {
		t.Error(diff)
	}
}
