package retrieve

// choose returns the passages for the model, best first and ranked: those that reach the
// minimum score, up to the requested number.
func (s *search) choose(pool []Context) []Context {
	var chosen []Context
	for _, c := range pool {
		switch {
		case c.Score < s.request.Config.MinScore:
			s.trace.drop(c.ChunkView, DropMinScore)
		case len(chosen) == s.request.Config.NumberOfChunks:
			s.trace.drop(c.ChunkView, DropNumber)
		default:
			c.Rank = len(chosen) + 1
			chosen = append(chosen, c)
		}
	}
	return chosen
}
