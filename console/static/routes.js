// The routes of the API that the console calls, by their operation in openapi.json. A test
// holds this list against that file.

export const routes = /** @type {const} */ ({
  "get-session": ["GET", "/auth/session"],
  "sign-in": ["POST", "/auth/session"],
  "sign-out": ["DELETE", "/auth/session"],
  "query": ["POST", "/workspaces/{workspaceId}/webhooks/query"],
  "list-conversations": ["GET", "/workspaces/{workspaceId}/conversations"],
  "get-conversation": ["GET", "/workspaces/{workspaceId}/conversations/{id}"],
  "rename-conversation": ["PATCH", "/workspaces/{workspaceId}/conversations/{id}"],
  "delete-conversation": ["DELETE", "/workspaces/{workspaceId}/conversations/{id}"],
  "list-projects": ["GET", "/workspaces/{workspaceId}/projects"],
  "list-runs": ["GET", "/workspaces/{workspaceId}/runs"],
  "workspace-get-run": ["GET", "/workspaces/{workspaceId}/runs/{run_id}"],
  "give-feedback": ["POST", "/workspaces/{workspaceId}/runs/{run_id}/feedback"],
  "workspace-pause-run": ["POST", "/workspaces/{workspaceId}/runs/{run_id}/pause"],
  "workspace-resume-run": ["POST", "/workspaces/{workspaceId}/runs/{run_id}/resume"],
  "workspace-steer-run": ["POST", "/workspaces/{workspaceId}/runs/{run_id}/messages"],
  "list-imports": ["GET", "/workspaces/{workspaceId}/imports"],
  "workspace-run-events": ["GET", "/workspaces/{workspaceId}/runs/{run_id}/events"],
  "workspace-cancel-run": ["POST", "/workspaces/{workspaceId}/runs/{run_id}/cancel"],
  "workspace-decide-call": ["POST", "/workspaces/{workspaceId}/runs/{run_id}/calls/{call}"],
  "get-chunk": ["GET", "/chunks/{chunk_id}"],
  "list-documents": ["GET", "/workspaces/{workspaceId}/documents"],
  "get-document": ["GET", "/workspaces/{workspaceId}/documents/{id}"],
  "list-document-chunks": ["GET", "/workspaces/{workspaceId}/documents/{id}/chunks"],
  "list-document-versions": ["GET", "/workspaces/{workspaceId}/documents/{id}/versions"],
  "get-document-content": ["GET", "/workspaces/{workspaceId}/documents/{id}/content"],
  "retry-document": ["POST", "/workspaces/{workspaceId}/documents/{id}/retry"],
  "retry-documents": ["POST", "/workspaces/{workspaceId}/documents/retry"],
  "reingest-document": ["POST", "/workspaces/{workspaceId}/documents/{id}/reingest"],
  "delete-document": ["DELETE", "/workspaces/{workspaceId}/documents/{id}"],
  "add-files": ["POST", "/workspaces/{workspaceId}/projects/{id}/files"],
  "get-document-page": ["GET", "/workspaces/{workspaceId}/documents/{id}/pages/{page}"],
});

/** @typedef {keyof typeof routes} Route */
