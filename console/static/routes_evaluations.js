// The routes of the API that the pages of evaluations call, by their operation in openapi.json. They
// are apart from routes.js, which every page loads.

export const to = /** @type {const} */ ({
  "list-evaluations": ["GET", "/workspaces/{workspaceId}/evaluations"],
  "get-evaluation": ["GET", "/workspaces/{workspaceId}/evaluations/{evaluation}"],
  "pause-evaluation": ["POST", "/workspaces/{workspaceId}/evaluations/{evaluation}/pause"],
  "resume-evaluation": ["POST", "/workspaces/{workspaceId}/evaluations/{evaluation}/resume"],
  "cancel-evaluation": ["POST", "/workspaces/{workspaceId}/evaluations/{evaluation}/cancel"],
  "start-evaluation": ["POST", "/workspaces/{workspaceId}/evaluations"],
  "compare-evaluations": ["GET", "/workspaces/{workspaceId}/evaluations/{evaluation}/compare/{candidate}"],
  "list-test-sets": ["GET", "/workspaces/{workspaceId}/test_sets"],
  "get-test-set": ["GET", "/workspaces/{workspaceId}/test_sets/{test_set}"],
  "add-test-set": ["POST", "/workspaces/{workspaceId}/test_sets"],
  "patch-test-set": ["PATCH", "/workspaces/{workspaceId}/test_sets/{test_set}"],
  "delete-test-set": ["DELETE", "/workspaces/{workspaceId}/test_sets/{test_set}"],
  "generate-test-set": ["POST", "/workspaces/{workspaceId}/test_sets/generate"],
  "make-test-set-from-feedback": ["POST", "/workspaces/{workspaceId}/test_sets/from_feedback"],
  "read-insights": ["GET", "/workspaces/{workspaceId}/insights"],
  "review-evaluation-item": ["POST", "/workspaces/{workspaceId}/evaluations/{evaluation}/items/{item}/review"],
});
