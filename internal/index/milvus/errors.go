package milvus

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/milvus-io/milvus/pkg/v2/util/merr"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// typed wraps an error of the server into one with a code. A request that the
// server refuses is a defect of ours; all other errors may pass when the call is
// repeated.
func typed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf(format+": %w", append(args, err)...)
	if _, ok := errors.AsType[*knowledge.Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch grpcCode(err) {
	case codes.Canceled:
		return fmt.Errorf("%w: %w", context.Canceled, err)
	case codes.DeadlineExceeded:
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	if refusesCredentials(err) {
		return unauthorized().WithCause(err)
	}
	switch merr.Code(err) {
	case merr.Code(merr.ErrParameterInvalid), merr.Code(merr.ErrParameterMissing), merr.Code(merr.ErrParameterTooLarge),
		merr.Code(merr.ErrCollectionIllegalSchema), merr.Code(merr.ErrCollectionSchemaMismatch), merr.Code(merr.ErrFieldNotFound):
		return knowledge.Errorf(knowledge.CodeInternal, "the index refused the request").WithCause(err)
	}
	e := knowledge.Errorf(knowledge.CodeUnavailable, "the index cannot be reached; try again later").WithCause(err)
	e.Retryable = true
	return e
}

func refusesCredentials(err error) bool {
	code := grpcCode(err)
	return code == codes.Unauthenticated || code == codes.PermissionDenied || hasCode(err, merr.ErrPrivilegeNotAuthenticated) ||
		hasCode(err, merr.ErrPrivilegeNotPermitted) || hasCode(err, merr.ErrNeedAuthenticate)
}

func unauthorized() *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeUnavailable, "Milvus refuses the credentials; set vector.token_env")
}

// grpcCode returns the code of a failed call, codes.Unknown if err is an answer
// of the server.
func grpcCode(err error) codes.Code {
	var failed interface{ GRPCStatus() *status.Status }
	if errors.As(err, &failed) {
		return failed.GRPCStatus().Code()
	}
	return codes.Unknown
}

// hasCode reports whether err is an answer of the server with the code of want.
func hasCode(err, want error) bool { return err != nil && merr.Code(err) == merr.Code(want) }
