package server

// ConfigError reports that the configuration or the flags of a process have to change.
type ConfigError struct{ Text string }

// Error implements error.
func (e ConfigError) Error() string { return e.Text }

// NoServerError reports that there is no server to work for.
type NoServerError struct{ Text string }

// Error implements error.
func (e NoServerError) Error() string { return e.Text }
