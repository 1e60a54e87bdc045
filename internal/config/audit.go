package config

// Audit is what the audit keeps.
type Audit struct {
	// Whether the audit keeps the words of questions: text, or hash for their SHA-256
	// (governance.md). Defaults to hash.
	Questions string `koanf:"questions"`
	// The place to which the server writes signed checkpoints of the audit, besides the
	// database: a folder as file:///absolute/folder, or a bucket as blob.url has it
	// (governance.md). Defaults to none.
	Checkpoints string `koanf:"checkpoints"`
	// The name of the environment variable that holds the credentials for the bucket of
	// audit.checkpoints (buckets.md). Defaults to none: the service's usual chain finds them.
	CredentialsEnv string `koanf:"credentials_env"`

	// Credentials is the value of the variable that CredentialsEnv names.
	Credentials string `koanf:"-"`
}

// KeepsText reports whether the words of questions are kept.
func (a Audit) KeepsText() bool { return a.Questions == questionsText }

// The values of audit.questions.
const (
	questionsHash = "hash"
	questionsText = "text"
)

// Retention is after how many days the instance removes what it keeps for operators.
type Retention struct {
	// After how many days entries of the audit are removed (governance.md); 0 keeps them.
	// Defaults to 0.
	Audit int `koanf:"audit"`
}
