package encoder

// Portable makes the model do without vector instructions.
func (m *Model) Portable() { m.accelerated = false }
