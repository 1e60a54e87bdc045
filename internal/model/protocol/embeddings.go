package protocol

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
)

// EmbeddingRequest is a request for embeddings.
type EmbeddingRequest struct {
	Model          string `json:"model"`
	Input          Inputs `json:"input"`
	EncodingFormat string `json:"encoding_format"` // "", float or base64
	Dimensions     int    `json:"dimensions"`      // 0 = the model's own
}

// Inputs are texts. JSON may have a single string instead of a list.
type Inputs []string

// UnmarshalJSON implements json.Unmarshaler.
func (in *Inputs) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*in = Inputs{""}
		return json.Unmarshal(data, &(*in)[0])
	}
	if err := json.Unmarshal(data, (*[]string)(in)); err != nil {
		return invalid("input", "input must be a text or a list of texts")
	}
	return nil
}

// ParseEmbeddings decodes and checks a request for embeddings of at most
// maxDimensions dimensions. Errors are *Error.
func ParseEmbeddings(body []byte, maxDimensions int) (EmbeddingRequest, error) {
	var req EmbeddingRequest
	if err := parse(body, &req); err != nil {
		return req, err
	}
	switch {
	case req.Model == "":
		return req, invalid("model", "you must provide a model parameter")
	case len(req.Input) == 0:
		return req, invalid("input", "input must hold at least one text")
	case len(req.Input) > MaxInputs:
		return req, invalid("input", "input holds more than "+strconv.Itoa(MaxInputs)+" texts")
	case req.EncodingFormat != "" && req.EncodingFormat != "float" && req.EncodingFormat != "base64":
		return req, invalid("encoding_format", "encoding_format must be float or base64")
	case req.Dimensions < 0 || req.Dimensions > maxDimensions:
		return req, invalid("dimensions", "dimensions must be between 1 and "+strconv.Itoa(maxDimensions))
	}
	for i, text := range req.Input {
		if text == "" {
			return req, invalid("input["+strconv.Itoa(i)+"]", "an input must not be empty")
		}
	}
	return req, nil
}

// WriteEmbeddings writes one vector for each input, in their order. It returns
// an error if the answer was not written completely.
func WriteEmbeddings(w http.ResponseWriter, req EmbeddingRequest, vectors [][]float32) error {
	size := 256
	for _, v := range vectors {
		size += 64 + 13*len(v)
	}
	b := append(make([]byte, 0, size), `{"object":"list","data":[`...)
	for i, v := range vectors {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"object":"embedding","index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"embedding":`...)
		b = appendVector(b, v, req.EncodingFormat)
		b = append(b, '}')
	}
	tokens := 0
	for _, text := range req.Input {
		tokens += CountTokens(text)
	}
	count := strconv.Itoa(tokens)
	b = append(b, `],"model":`...)
	b = appendString(b, req.Model)
	b = append(b, `,"usage":{"prompt_tokens":`+count+`,"total_tokens":`+count+"}}\n"...)
	return writeJSON(w, http.StatusOK, b)
}

func appendVector(b []byte, v []float32, format string) []byte {
	if format == "base64" {
		raw := make([]byte, 0, 4*len(v))
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, raw)
		return append(b, '"')
	}
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return append(b, ']')
}
