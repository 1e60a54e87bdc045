package sharepoint

// OneByOne makes a source ask for the rights of one item at a time, so that the order of its
// requests is always the same.
func OneByOne(s *Source, err error) (*Source, error) {
	if err == nil {
		s.together = 1
	}
	return s, err
}
