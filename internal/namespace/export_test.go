package namespace

import "log/slog"

// SDKHandler returns the handler of the SDK's records.
func SDKHandler(h slog.Handler) slog.Handler { return sdkHandler{h} }
