package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

func TestCheckArguments(t *testing.T) {
	t.Parallel()
	weather := tool.Tool{Name: "weather", Parameters: json.RawMessage(`{"type":"object","required":["city"],"additionalProperties":false,"properties":{
		"city":{"type":"string","maxLength":9},"days":{"type":"array","items":{"type":"integer","minimum":1}},"unit":{"enum":["c","f"]}}}`)}
	for arguments, want := range map[string]string{
		`{"city":"Oslo","days":[1,2],"unit":"c"}`: "",
		``:                                  "not one JSON object with city",
		`secret`:                            "not one JSON object with city",
		`["secret"]`:                        "not one JSON object with city",
		`{"city":"Oslo"} {"city":"x"}`:      "not one JSON object with city",
		`{}`:                                "must have city",
		`{"city":7}`:                        "city must be of type string",
		`{"city":"secretsecret"}`:           "city does not meet maxLength",
		`{"city":"Oslo","secret":1}`:        "no other properties",
		`{"city":"Oslo","days":["secret"]}`: "days/items must be of type integer",
		`{"city":"Oslo","unit":"secret"}`:   "unit does not meet enum",
	} {
		err := weather.CheckArguments(arguments)
		switch {
		case want == "" && err == nil:
		case !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
	if err := (tool.Tool{}).CheckArguments(`{"any":1}`); err != nil {
		t.Errorf("a tool without a schema: %v", err)
	}
}

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	for schema, valid := range map[string]bool{
		`{"type":"object"}`: true,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}}`: true,
		`{"type":"object","properties":{"a":{"type":"text"}}}`:                                      false,
		`{"type":"string"}`: false,
		`{`:                 false,
		`[]`:                false,
		`{"type":"object","properties":{"a":{"pattern":"("}}}`:                          false,
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`:            false,
		`{"type":"object","properties":{"a":{"$ref":"http://169.254.169.254/latest"}}}`: false,
		`{"$schema":"http://127.0.0.1/schema","type":"object"}`:                         false,
	} {
		if err := tool.CheckSchema(json.RawMessage(schema)); (err == nil) != valid {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
