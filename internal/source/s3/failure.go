package s3

import (
	"errors"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// failure returns the error of a request as source.Source states it.
func failure(err error, subject, name string) error {
	status, header := 0, http.Header{}
	if e, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && e.Response != nil {
		status, header = e.Response.StatusCode, e.Response.Header
	}
	if status == http.StatusNotModified {
		return source.ErrUnchanged
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		if known := fromCode(e.ErrorCode(), header, subject, name); known != nil {
			return known.WithCause(err)
		}
	}
	if status >= 300 {
		return source.FromStatus(status, header, subject, name).WithCause(err)
	}
	return source.FromExchange(err)
}

// fromCode returns the error for a code of S3 or STS, nil for a code that its
// status explains.
func fromCode(code string, header http.Header, subject, name string) *knowledge.Error {
	switch code {
	case "NoSuchBucket":
		return source.NotFound("bucket", name)
	case "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests":
		return source.Throttled(source.RetryAfter(header))
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return knowledge.Errorf(knowledge.CodeInvalid, "the bucket is in another region (%s); set source.options.region", header.Get("x-amz-bucket-region"))
	case "InvalidObjectState":
		return knowledge.Errorf(knowledge.CodeForbidden, "%q is in an archive class of the bucket; restore it and try again", name)
	case "ExpiredToken", "ExpiredTokenException":
		return knowledge.Errorf(knowledge.CodeForbidden, "the credentials for the %s %q have expired; replace them and try again", subject, name)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "InvalidClientTokenId":
		return source.Forbidden(subject, name)
	}
	return nil
}
