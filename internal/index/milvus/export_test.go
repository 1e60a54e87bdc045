package milvus

// WithoutWords leaves the search for words out, which the whole server of version 2.3 does
// not have.
func (c Config) WithoutWords() Config {
	c.withoutWords = true
	return c
}
