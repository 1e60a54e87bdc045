package milvus

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus/client/v2/entity"
	"github.com/milvus-io/milvus/client/v2/index"
)

// The fields of an entry.
const (
	fieldID             = "id" // hash of workspace, document, version and chunk
	fieldWorkspace      = "workspace"
	fieldProject        = "project"
	fieldDocument       = "document_id"
	fieldVersion        = "version"
	fieldOrdinal        = "ordinal"
	fieldChunk          = "chunk_id"
	fieldName           = "name"
	fieldLanguage       = "language"
	fieldClassification = "classification"
	fieldCreated        = "created_at" // microseconds since 1970, 0 = unknown
	fieldTags           = "tags"
	fieldACL            = "acl"
	fieldFacts          = "facts"    // hashes of what the metadata holds (facts.go)
	fieldMetadata       = "metadata" // texts in letters, and numbers, for comparison
	fieldText           = "words"
	fieldSparse         = "words_bm25"
	fieldVector         = "vector"
)

const (
	maxList   = 4096 // elements of an array in Milvus
	maxShort  = 1024 // bytes of an id, a tag or a token
	maxLong   = 8192 // bytes of a name
	lengthID  = 32
	hnswM     = 16
	hnswBuild = 200
	ivfLists  = 128
)

// bm25Params are the constants of BM25 in FTS5.
const bm25Params = `{"bm25_k1": 1.2, "bm25_b": 0.75}`

// schema returns the schema of the collection for vectors of a dimension, 0 =
// for entries without a vector.
func (c Config) schema(dimension int) *entity.Schema {
	s := entity.NewSchema().
		WithField(text(fieldID, lengthID).WithIsPrimaryKey(true)).
		WithField(text(fieldWorkspace, maxShort).WithIsPartitionKey(!c.WithoutPartitionKey)).
		WithField(text(fieldProject, maxShort)).
		WithField(text(fieldDocument, maxShort)).
		WithField(number(fieldVersion)).
		WithField(number(fieldOrdinal)).
		WithField(text(fieldChunk, maxShort)).
		WithField(text(fieldName, maxLong)).
		WithField(text(fieldLanguage, maxShort)).
		WithField(text(fieldClassification, maxShort)).
		WithField(number(fieldCreated)).
		WithField(texts(fieldTags, maxShort)).
		WithField(texts(fieldACL, maxShort)).
		WithField(texts(fieldFacts, lengthID)).
		WithField(entity.NewField().WithName(fieldMetadata).WithDataType(entity.FieldTypeJSON))
	c.addWords(s)
	if dimension > 0 {
		s.WithField(entity.NewField().WithName(fieldVector).WithDataType(entity.FieldTypeFloatVector).WithDim(int64(dimension)))
	}
	return s
}

// addWords adds the fields that are searched for words.
func (c Config) addWords(s *entity.Schema) {
	if c.withoutWords {
		s.WithField(text(fieldText, maxWords))
		return
	}
	s.WithField(text(fieldText, maxWords).WithEnableAnalyzer(true).WithAnalyzerParams(map[string]any{"tokenizer": c.Analyzer})).
		WithField(entity.NewField().WithName(fieldSparse).WithDataType(entity.FieldTypeSparseVector)).
		WithFunction(entity.NewFunction().WithName("bm25").WithType(entity.FunctionTypeBM25).
			WithInputFields(fieldText).WithOutputFields(fieldSparse))
}

func text(name string, bytes int64) *entity.Field {
	return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).WithMaxLength(bytes)
}

func texts(name string, bytes int64) *entity.Field {
	return entity.NewField().WithName(name).WithDataType(entity.FieldTypeArray).WithElementType(entity.FieldTypeVarChar).
		WithMaxLength(bytes).WithMaxCapacity(maxList)
}

func number(name string) *entity.Field {
	return entity.NewField().WithName(name).WithDataType(entity.FieldTypeInt64)
}

// indexes returns the indexes of a collection by field.
func (c Config) indexes(dimension int) map[string]index.Index {
	of := map[string]index.Index{}
	if !c.withoutWords {
		of[fieldSparse] = index.NewGenericIndex(fieldSparse, map[string]string{
			index.IndexTypeKey: string(index.SparseInverted), index.MetricTypeKey: string(entity.BM25), index.ParamsKey: bm25Params,
		})
	}
	if dimension > 0 {
		of[fieldVector] = c.denseIndex()
	}
	return of
}

func (c Config) denseIndex() index.Index {
	switch index.IndexType(c.IndexType) {
	case index.Flat:
		return index.NewFlatIndex(entity.COSINE)
	case index.IvfFlat:
		return index.NewIvfFlatIndex(entity.COSINE, ivfLists)
	case index.AUTOINDEX:
		return index.NewAutoIndex(entity.COSINE)
	default:
		return index.NewHNSWIndex(entity.COSINE, hnswM, hnswBuild)
	}
}

// searchParam returns how thoroughly the dense index is searched for limit hits.
func (c Config) searchParam(limit int) index.AnnParam {
	switch index.IndexType(c.IndexType) {
	case index.IvfFlat:
		return index.NewIvfAnnParam(ivfLists / 4)
	case index.HNSW:
		return index.NewHNSWAnnParam(max(128, 2*limit))
	default:
		return nil
	}
}

// collection is the collection of a generation, or of the entries without a vector.
type collection struct {
	name       string
	generation string // generationID, "" = of entries without a vector
	dimension  int    // 0 = of entries without a vector
}

// generationID returns what stands for a generation in the name of its collection,
// which cannot hold every character.
func generationID(generation string) string { return hash(generation)[:16] }

// collectionOf returns the collection for vectors of a dimension of a generation, 0 =
// for entries without a vector.
func (c Config) collectionOf(generation string, dimension int) collection {
	if dimension == 0 {
		return collection{name: c.Prefix + "_d0"}
	}
	id := generationID(generation)
	return collection{c.Prefix + "_g" + id + "_d" + strconv.Itoa(dimension), id, dimension}
}

// collectionNamed returns a collection by its name, ok = false if it is not one of this
// index.
func (c Config) collectionNamed(name string) (_ collection, ok bool) {
	rest, ok := strings.CutPrefix(name, c.Prefix+"_")
	if !ok {
		return collection{}, false
	}
	if rest == "d0" {
		return collection{name: name}, true
	}
	id, number, ok := strings.Cut(strings.TrimPrefix(rest, "g"), "_d")
	dimension, err := strconv.Atoi(number)
	return collection{name, id, dimension}, ok && rest[0] == 'g' && len(id) == 16 && err == nil && dimension > 0
}

// tokenizerOf returns the tokenizer of the words in a described schema, "" if it
// does not say.
func tokenizerOf(s *entity.Schema) string {
	for _, f := range s.Fields {
		var params struct {
			Tokenizer string `json:"tokenizer"`
		}
		if f.Name == fieldText && json.Unmarshal([]byte(f.TypeParams["analyzer_params"]), &params) == nil {
			return params.Tokenizer
		}
	}
	return ""
}
