package e2e_test

import (
	"net/http"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestCostOfADay holds a key to what it may cost in a day, by the prices of the configuration, also
// after a kill. What it has cost differs from the limit by at most 5 %. The same questions by a key
// without a limit are answered.
func TestCostOfADay(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_MODELS__CURRENCY=EUR", "CAIRN_MODELS__PRICES__0__MODEL="+modeltest.ModelName, "CAIRN_MODELS__PRICES__0__INPUT=1000", "CAIRN_MODELS__PRICES__0__OUTPUT=2000")...)
	s.publish(t, "pier", "The pier has a lamp.")
	const limit = 20.0 // some 25 questions
	thrifty := s.newKey(t, map[string]any{"name": "thrifty", "scopes": []string{"read"}, "limits": map[string]any{"costPerDay": limit}})
	free := s.newKey(t, map[string]any{"name": "free", "scopes": []string{"read"}})
	question := map[string]any{"text": "What has the pier?", "projectId": "default"}
	ask := func(key string) (int, string) { return s.refusalBy(t, key, "POST", webhooks+"/query", question) }
	answered, status, code := 0, http.StatusOK, ""
	for ; answered < 200 && status == http.StatusOK; answered++ {
		status, code = ask(thrifty)
	}
	if answered < 3 || status != http.StatusTooManyRequests || code != string(knowledge.CodeRateLimited) {
		t.Errorf("question %d: status %d %s", answered, status, code)
	}
	s.kill()
	s.restart()
	if status, code := ask(thrifty); status != http.StatusTooManyRequests {
		t.Errorf("after a kill: status %d %s", status, code)
	}
	if status, code := ask(free); status != http.StatusOK {
		t.Errorf("another key: status %d %s", status, code)
	}
	var usage struct {
		Data []struct {
			Name      string
			UsedToday struct {
				Tokens int64
				Cost   float64
			} `json:"used_today"`
		}
	}
	if status := s.call(t, "GET", "/workspaces/default/usage?by=key", nil, &usage); status != http.StatusOK {
		t.Fatalf("usage: status %d", status)
	}
	for _, of := range usage.Data {
		if of.Name != "thrifty" {
			continue
		}
		used := of.UsedToday
		t.Logf("%d questions cost %.3f with %d tokens", answered-1, used.Cost, used.Tokens)
		if used.Cost < .95*limit || used.Cost > 1.05*limit || used.Cost < float64(used.Tokens)/1000 || used.Cost > float64(used.Tokens)/500 {
			t.Errorf("%.3f of %.0f were used, with %d tokens", used.Cost, limit, used.Tokens)
		}
		return
	}
	t.Error("the usage has no such key")
}
