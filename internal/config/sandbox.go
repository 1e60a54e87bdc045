package config

// The values of sandbox.helpers.
const (
	HelpersInNamespaces = "namespaces"
	HelpersUnconfined   = "none"
)

// Sandbox is how programs that read documents are kept from the rest of the machine.
type Sandbox struct {
	// How the processes that read documents, and the programs that they start
	// (LibreOffice, tesseract, poppler, ffmpeg), are confined: namespaces, for which
	// bubblewrap must be installed and allowed to make them, or none. Without namespaces no such program is
	// started, and documents that need one end as needs_component. With none a document
	// may have LibreOffice show any file that the server can read, the files of other
	// workspaces included. Defaults to namespaces.
	Helpers string `koanf:"helpers"`
}
