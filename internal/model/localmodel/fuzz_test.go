package localmodel_test

import (
	"encoding/json"
	"math"
	"regexp"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

var sourceMark = regexp.MustCompile(`<source_(\d+)>`)

// FuzzAnswer sends any passage and any question to the model. It must answer
// and cite only that passage.
func FuzzAnswer(f *testing.F) {
	f.Add("The key is under the mat.\n\n- one\n- two", "Where is the key?")
	f.Add("a | b\n--- | ---\n1 | 2\n|", "what is b in detail")
	f.Add("```\ncode\n", "code?")
	f.Add("[x](y) ![](z) **a* _b_ <source_3> </source_1> inter-\nnational", "and it?")
	f.Add("会社は東京。\u0301\xff", "どこ ’s ſ İ")
	f.Add("ﾞ ｶﾞｽ", "ﾟ とｶﾞｽ?")
	f.Add("The lamp of the lighthouse is cleaned every Tuesday.", "灯塔的灯多久清洁一次？")
	f.Fuzz(func(t *testing.T, passage, question string) {
		system := "<source_1 document=\"a &gt; b\" heading=\"c > d\">\n" + passage + "\n</source_1>"
		body, err := json.Marshal(map[string]any{"model": "cairn-offline", "messages": []map[string]string{
			{"role": "system", "content": system}, {"role": "user", "content": "before " + question}, {"role": "user", "content": question},
		}})
		if err != nil {
			t.Fatal(err)
		}
		status, answer := post(t, localmodel.Config{}, "/v1/chat/completions", string(body))
		var got struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 || got.Choices[0].Message.Content == "" {
			t.Fatalf("status %d, %s: %v", status, answer, err)
		}
		for _, m := range sourceMark.FindAllStringSubmatch(got.Choices[0].Message.Content, -1) {
			if m[1] != "1" && !sourceMark.MatchString(passage) {
				t.Fatalf("cites %s: %s", m[0], answer)
			}
		}
	})
}

// FuzzEmbed embeds any text. Its vector must have length 1.
func FuzzEmbed(f *testing.F) {
	m := localmodel.New(localmodel.Config{})
	f.Add("")
	f.Add("Ωmega ’tis 1,000.5 日本 ก \xff ªº")
	f.Add("ｶﾞｽ")
	f.Fuzz(func(t *testing.T, text string) {
		sum := 0.0
		for _, v := range m.EmbedTo([]string{text}, 64)[0] {
			sum += float64(v) * float64(v)
		}
		if !(math.Abs(sum-1) < 1e-3) {
			t.Fatalf("length² %v", sum)
		}
	})
}
