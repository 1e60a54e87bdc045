package milvus

import "time"

// WithoutWords leaves the search for words out, which the whole server of version 2.3 does
// not have.
func (c Config) WithoutWords() Config {
	c.withoutWords = true
	return c
}

// WithLoadPatience has calls wait so long for a collection that the server loads.
func (c Config) WithLoadPatience(d time.Duration) Config {
	c.loadPatience = d
	return c
}
