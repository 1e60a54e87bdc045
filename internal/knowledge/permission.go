package knowledge

// Permission is the right to do one kind of thing. Roles are sets of permissions, and each
// route of the API needs one: package access has the table.
type Permission string

// The permissions. The list is closed: a role names no others.
const (
	DocumentsRead      Permission = "documents.read"
	DocumentsWrite     Permission = "documents.write"
	ImportsWrite       Permission = "imports.write"
	ConnectionsRead    Permission = "connections.read"
	ConnectionsWrite   Permission = "connections.write"
	SyncsRead          Permission = "syncs.read"
	SyncsWrite         Permission = "syncs.write"
	QuestionsAsk       Permission = "questions.ask"
	ConversationsWrite Permission = "conversations.write"
	RunsRead           Permission = "runs.read"
	RunsWrite          Permission = "runs.write"
	RunsAdmin          Permission = "runs.admin"
	ProjectsRead       Permission = "projects.read"
	ProjectsAdmin      Permission = "projects.admin"
	UsageRead          Permission = "usage.read"
	AccessRead         Permission = "access.read"
	WebhooksRead       Permission = "webhooks.read"
	WebhooksWrite      Permission = "webhooks.write"
	SecretsRead        Permission = "secrets.read"
	SecretsWrite       Permission = "secrets.write"
	KeysRead           Permission = "keys.read"
	KeysWrite          Permission = "keys.write"
	PermissionsRead    Permission = "permissions.read"
	RolesRead          Permission = "roles.read"
	RolesWrite         Permission = "roles.write"
	MembersRead        Permission = "members.read"
	MembersWrite       Permission = "members.write"
	SessionsOwn        Permission = "sessions.own"
	SessionsAdmin      Permission = "sessions.admin"
	GrantsRead         Permission = "grants.read"
	GrantsWrite        Permission = "grants.write"
	AuditRead          Permission = "audit.read"
	HoldsRead          Permission = "holds.read"
	HoldsWrite         Permission = "holds.write"
	ConsentsRead       Permission = "consents.read"
	ConsentsWrite      Permission = "consents.write"
	SubjectsExport     Permission = "subjects.export"
	SubjectsErase      Permission = "subjects.erase"
	WorkspacesRead     Permission = "workspaces.read"
	EvaluationsRead    Permission = "evaluations.read"
	EvaluationsWrite   Permission = "evaluations.write"

	// InstanceAdmin is of the instance's key alone, and of no role.
	InstanceAdmin Permission = "instance.admin"
	// Public is needed by routes that everybody may use. Nobody has it, and nobody needs to.
	Public Permission = "public"
)
